"""What is known of a trial beyond its rows: `trials.jsonl`, one object per line, as they come.

Nobody relies on it being complete: a torn or foreign line is passed over, a missing one only leaves doubts
unsaid.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from harness import shape
from harness.record import TrialKey

FILE_NAME = "trials.jsonl"


@dataclass(frozen=True)
class Detail:
    """A trial's circumstances.

    `rounds`: how many were measured, which may be more than asked for. `measured_ns`: all of them together.
    `round_ns`: quantiles of one. `outside_cores`: how many cores other processes kept busy meanwhile. `stragglers`:
    processes that outlived the worker and were killed.
    """

    workload: str
    parameters: str
    backend: str
    trial: int
    started_at: str
    duration_s: float
    outside_cores: float
    stragglers: int
    gil_enabled: bool | None = None
    measured_ns: int | None = None
    rounds: int | None = None
    round_ns: dict[str, float] | None = None

    @property
    def trial_key(self) -> TrialKey:
        """Which trial this is of."""
        return self.workload, self.parameters, self.backend, self.trial


def append(path: Path, detail: Detail) -> None:
    """Add a line."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(detail)) + "\n")


def read(path: Path) -> dict[TrialKey, Detail]:
    """The details by trial; of a trial with several, the last."""
    found = {}
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    for line in lines:
        try:
            content = shape.parse(line)
            if not shape.mismatch(content, Detail):
                detail = Detail(**content)
                found[detail.trial_key] = detail
        except (ValueError, TypeError):
            continue
    return found

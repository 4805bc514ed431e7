"""What is known of a trial beyond its rows: `trials.jsonl`, one object per line, as they come.

Nobody relies on it being complete: a torn or foreign line is passed over, a missing one only leaves doubts
unsaid.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from harness.plan.grid import TrialKey
from harness.store import validation
from harness.store.measurements import OfTrial

FILE_NAME = "trials.jsonl"


@dataclass(frozen=True)
class TrialRecord(OfTrial):
    """A trial's circumstances.

    `duration_s`: of the block's time, what it took without its copy. `outside_cores`: how many cores processes that are
    none of the block's kept busy meanwhile. `rounds` were measured in so many `turns`, `measured_ns` together, after
    `warmup_turns` in `warmup_s`, at whose end the turns were `steady` or the limit was reached. `idle_share`: of a
    core, used between turns by its processes, of which `parked` are stopped there. `lead_ns`: how long it ran in each
    turn before it was timed, a whole round at least. `p50_ns` to `p99_ns`: see `tails`.
    """

    workload: str
    parameters: str
    backend: str
    trial: int
    started_at: str
    duration_s: float
    outside_cores: float
    gil_enabled: bool | None = None
    measured_ns: int | None = None
    rounds: int | None = None
    turns: int | None = None
    warmup_turns: int | None = None
    warmup_s: float | None = None
    steady: bool | None = None
    idle_share: float | None = None
    parked: int | None = None
    lead_ns: int | None = None
    p50_ns: float | None = None
    p95_ns: float | None = None
    p99_ns: float | None = None


_NAMES = {field.name for field in fields(TrialRecord)}


def append(path: Path, detail: TrialRecord) -> None:
    """Add a line."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(detail)) + "\n")


def read(path: Path) -> dict[TrialKey, TrialRecord]:
    """The details by trial; of a trial with several, the last."""
    found = {}
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    for line in lines:
        try:
            content = validation.parse(line)
            told = {name: content[name] for name in _NAMES & content.keys()}  # other versions tell more, or less
            if not validation.mismatch(told, TrialRecord):
                detail = TrialRecord(**told)
                found[detail.trial_key] = detail
        except (ValueError, TypeError, AttributeError):
            continue
    return found

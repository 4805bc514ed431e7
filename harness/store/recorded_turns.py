"""`turns.csv` of a run's directory: every turn of every trial. Owns the file.

One row per turn, in these columns:

- `workload`, `parameters`, `backend`, `trial`: as in `measurements.csv`, whose values come from these turns
- `copy`: 0, or 1 for a second subject of the same backend, by which the run measures its own noise
- `sweep`: turns of one sweep are neighbours; `position`: in the sweep
- `rounds`: done in the turn; `wall_ns`: which took so long; `cpu_ns`: see `measure.turn.Turn`
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.plan.grid import TrialKey, runs_alone
from harness.store.measurements import OfTrial, is_torn, write_atomically
from workloads.catalogue import BACKENDS

if TYPE_CHECKING:
    import pandas as pd  # takes a second, and not every command reads turns

FILE_NAME = "turns.csv"
COLUMNS = (
    "workload", "parameters", "backend", "trial", "copy", "sweep", "position", "rounds", "wall_ns", "cpu_ns",
)  # fmt: skip
_KEY = ["workload", "parameters", "backend", "trial"]


@dataclass(frozen=True)
class RecordedTurn(OfTrial):
    """A turn; the fields are the columns, in their order."""

    workload: str
    parameters: str
    backend: str
    trial: int
    copy: int
    sweep: int
    position: int
    rounds: int
    wall_ns: int
    cpu_ns: int

    def round_ns(self, by_cpu: bool) -> float:
        """Time of a round."""
        return (self.cpu_ns if by_cpu else self.wall_ns) / self.rounds


def replace(path: Path, trials: Container[TrialKey], rows: Iterable[RecordedTurn]) -> None:
    """Add rows, in place of those that the file has of these trials: an interrupted run may have left some, and a torn
    line. Raises OSError.
    """
    import pandas as pd

    before, added = read(path), pd.DataFrame([vars(row) for row in rows], columns=list(COLUMNS))
    kept = before[[key not in trials for key in before[_KEY].itertuples(index=False, name=None)]]
    if len(kept) == len(before) and path.exists() and not is_torn(path):
        added.to_csv(path, mode="a", header=False, index=False, lineterminator="\n")
    else:
        text = pd.concat([kept, added]).to_csv(index=False, lineterminator="\n")
        write_atomically(path, text.encode())


def read(path: Path) -> pd.DataFrame:
    """The turns, none where there is no such file; a torn last line is left out. Raises UsageError."""
    import pandas as pd

    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    try:
        text = path.read_bytes()
        whole = text[: text.rindex(b"\n") + 1] if b"\n" in text else text  # without a line that was torn
        frame = pd.read_csv(io.BytesIO(whole), on_bad_lines="error", keep_default_na=False, dtype=str)
        if tuple(frame.columns) != COLUMNS:
            raise ValueError(f"expected the columns {','.join(COLUMNS)}")
        numbers = [name for name in COLUMNS if name not in _KEY[:3]]
        frame = frame.astype(dict.fromkeys(numbers, "int64"))
        if (frame[["rounds", "wall_ns"]] <= 0).any(axis=None):
            raise ValueError("a turn without rounds or time")
    except (ValueError, OSError) as error:
        raise UsageError(f"{path}: broken ({' '.join(str(error).split())}); remove it or restore it") from None
    return frame


class RecordedTurns:
    """The turns of a run, by what they are of: point, backend and copy."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._taken: dict[tuple[tuple[str, str], str, int], dict[int, dict[int, RecordedTurn]]] = {}
        for row in (RecordedTurn(*values) for values in frame.itertuples(index=False, name=None)):
            key = (row.workload, row.parameters), row.backend, row.copy
            self._taken.setdefault(key, {}).setdefault(row.trial, {})[row.sweep] = row

    def log_ratios(
        self,
        point: tuple[str, str],
        above: tuple[str, int],
        below: tuple[str, int],
        trials: Iterable[int] | None = None,
        less: tuple[float, float] = (0.0, 0.0),
    ) -> list[list[float]]:
        """By trial, the log ratios of neighbouring turns' times of a round of two subjects: backend and copy. Where
        each of them runs alone (see `grid`), their CPU times.

        `trials`: those that count, if not all. `less`: ns of each one's round that don't count; nothing, where a round
        has no more.
        """
        over, under = (self._taken.get((point, *subject), {}) for subject in (above, below))
        parameters = json.loads(point[1])
        by_cpu = all(name in BACKENDS and runs_alone(parameters, BACKENDS[name]) for name, _ in (above, below))
        found = []
        for trial in sorted(over.keys() & under.keys() & set(over if trials is None else trials)):
            pairs = [(over[trial][sweep], under[trial][sweep]) for sweep in sorted(over[trial].keys() & under[trial])]
            times = [(a.round_ns(by_cpu) - less[0], b.round_ns(by_cpu) - less[1]) for a, b in pairs]
            if any(less) and min(map(min, times), default=1.0) <= 0:
                return []
            if logs := [math.log(a / b) for a, b in times if a and b]:
                found.append(logs)
        return found

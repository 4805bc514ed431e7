"""`scaling.csv` of a run's directory: predicted and measured speed-up by number of workers. Owns the file.

One row per point, kind and number of workers, in these columns:

- `run_id`, `workload`, `scenario`, `actors`, `object_bytes`, `steps_per_message`, `minibatch` and `parameters` as in
  `measurements.csv`; `parameters` are the point's, by which the two files can be joined
- `backend`: whose reactions were traced (`predicted`), or what was measured
- `kind`: `predicted`, the speed-up over one worker that the static graph allows, at no cost of communication, from what
  the reactions took in a traced run on one worker; or `measured`, the speed-up over the serial loop
- `workers`: how many
- `trials`: how many repetitions the number is of
- `speedup`, `low`, `high`: the median (where measured, of ratios paired by trial) and its 95 % interval, or nothing
- `status`: `ok`, or in one line why there is no speed-up
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from harness import beside
from harness.record import UNSUPPORTED

FILE_NAME = "scaling.csv"
PREDICTED, MEASURED = "predicted", "measured"


@dataclass(frozen=True)
class Row:
    """A speed-up; the fields are the columns, in their order."""

    run_id: str
    workload: str
    scenario: str
    backend: str
    actors: int | None
    object_bytes: int | None
    steps_per_message: int | None
    minibatch: int | None
    parameters: str
    kind: str
    workers: int
    trials: int
    speedup: float | None
    low: float | None
    high: float | None
    status: str

    @property
    def point(self) -> tuple[str, str]:
        """What was run."""
        return self.workload, self.parameters

    @property
    def is_failure(self) -> bool:
        """Whether something went wrong, other than that the point can't be run so."""
        return self.speedup is None and not self.status.startswith(UNSUPPORTED)


COLUMNS = tuple(field.name for field in fields(Row))


def check_absent(directory: Path) -> None:
    """Raise UsageError where there is such a file already."""
    beside.check_absent(directory / FILE_NAME, "measure the scaling")


def write(directory: Path, rows: Sequence[Row]) -> None:
    """Put these rows in place of all, atomically; raises OSError."""
    beside.write(directory / FILE_NAME, COLUMNS, map(astuple, rows))


def read(directory: Path) -> list[Row]:
    """The rows of a directory, none where it has no such file; raises UsageError for a broken one."""
    return beside.read(directory / FILE_NAME, COLUMNS, _row, "scaling")


def _row(line: Mapping[str, str]) -> Row:
    numbers: dict[str, Any] = {}
    for name in ("actors", "object_bytes", "steps_per_message", "minibatch", "workers", "trials"):
        numbers[name] = int(line[name]) if line[name] else None
    for name in ("speedup", "low", "high"):
        numbers[name] = float(line[name]) if line[name] else None
        if numbers[name] is not None and not (numbers[name] > 0 and math.isfinite(numbers[name])):
            raise ValueError(name)
    if line["kind"] not in (PREDICTED, MEASURED) or numbers["workers"] is None or numbers["trials"] is None:
        raise ValueError("kind or count")
    if not isinstance(json.loads(line["parameters"]), dict):
        raise TypeError("parameters")
    return Row(**{name: numbers.get(name, line[name]) for name in COLUMNS})

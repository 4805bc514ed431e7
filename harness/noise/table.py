"""`noise.csv` of a run's directory: backends compared with themselves. Owns the file.

One row per comparison, in these columns:

- `run_id`, `workload`, `scenario`, `backend` and `parameters` as in `measurements.csv`
- `metric`: what was compared; `trials`: how many pairs of trials the comparison is of
- `comparison`: its number, from 0
- `ratio`, `low`, `high`: the ratio of the two medians, paired by trial, and its 95 % interval; both sides are the same
  backend, so that the true ratio is 1
- `contains_one`: `true` or `false`
- `status`: `ok`, or in one line why there is no ratio, which leaves the four before it empty
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from harness import beside

FILE_NAME = "noise.csv"
_TRUTHS = {"true": True, "false": False, "": None}


@dataclass(frozen=True)
class Row:
    """A comparison; the fields are the columns, in their order."""

    run_id: str
    workload: str
    scenario: str
    backend: str
    parameters: str
    metric: str
    trials: int
    comparison: int
    ratio: float | None
    low: float | None
    high: float | None
    contains_one: bool | None
    status: str


COLUMNS = tuple(field.name for field in fields(Row))


def check_absent(directory: Path) -> None:
    """Raise UsageError where there is such a file already."""
    beside.check_absent(directory / FILE_NAME, "measure the noise")


def write(directory: Path, rows: Sequence[Row]) -> None:
    """Put these rows in place of all, atomically; raises OSError."""
    beside.write(directory / FILE_NAME, COLUMNS, map(astuple, rows))


def read(directory: Path) -> list[Row]:
    """The rows of a directory, none where it has no such file; raises UsageError for a broken one."""
    return beside.read(directory / FILE_NAME, COLUMNS, _row, "noise")


def _row(line: Mapping[str, str]) -> Row:
    numbers = {name: float(line[name]) if line[name] else None for name in ("ratio", "low", "high")}
    if any(number is not None and not 0 < number < math.inf for number in numbers.values()):
        raise ValueError("a ratio that is not positive")
    if not line["status"]:
        raise ValueError("a row without status")
    return Row(
        run_id=line["run_id"],
        workload=line["workload"],
        scenario=line["scenario"],
        backend=line["backend"],
        parameters=line["parameters"],
        metric=line["metric"],
        trials=int(line["trials"]),
        comparison=int(line["comparison"]),
        ratio=numbers["ratio"],
        low=numbers["low"],
        high=numbers["high"],
        contains_one=_TRUTHS[line["contains_one"]],
        status=line["status"],
    )

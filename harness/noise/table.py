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
from dataclasses import dataclass

from harness.table import Table


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


def _valid(row: Row) -> bool:
    numbers = [number for number in (row.ratio, row.low, row.high) if number is not None]
    return bool(row.status) and all(0 < number < math.inf for number in numbers)


NOISE = Table("noise.csv", Row, "noise", "measure the noise", _valid)

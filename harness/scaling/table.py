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

import math
from dataclasses import dataclass

from harness.record import UNSUPPORTED, check_parameters
from harness.table import Table

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


def _valid(row: Row) -> bool:
    numbers = [number for number in (row.speedup, row.low, row.high) if number is not None]
    check_parameters(row.parameters)
    return row.kind in (PREDICTED, MEASURED) and all(0 < number < math.inf for number in numbers)


SCALING = Table("scaling.csv", Row, "scaling", "measure the scaling", _valid)

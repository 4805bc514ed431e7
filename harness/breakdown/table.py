"""`breakdown.csv` of a run's directory: where the rounds of its points go. Owns the file.

One row per phase of one trial, in these columns:

- `run_id`, `workload`, `scenario`, `backend`, `actors`, `object_bytes`, `steps_per_message`, `minibatch`, `parameters`
  and `trial` as in `measurements.csv`; `parameters` are the point's, by which the two files can be joined
- `started_at`: when this trial began
- `rounds`: how many measured rounds were recorded, which may be fewer than `parameters` say
- `phase`: `hub`, `serialise`, `submit`, `transfer`, `wait` or `compute` (see harness.breakdown.phases), which add up to
  `round`; and `plain_round`, the same round without recording, which tells what the recording costs
- `value`: the mean per measured round, empty where there is none; `unit`: `ns`
- `status`: `ok`, or in one line why there is no value
"""

from dataclasses import dataclass

from harness.table import Table


@dataclass(frozen=True)
class Row:
    """One phase of one trial; the fields are the columns, in their order."""

    run_id: str
    started_at: str
    workload: str
    scenario: str
    backend: str
    actors: int | None
    object_bytes: int | None
    steps_per_message: int | None
    minibatch: int | None
    parameters: str
    trial: int
    rounds: int
    phase: str
    value: float | None
    unit: str
    status: str

    @property
    def point(self) -> tuple[str, str]:
        """What was run."""
        return self.workload, self.parameters


BREAKDOWN = Table("breakdown.csv", Row, "breakdown", "take the rounds apart")

"""`breakdown.csv` of a run's directory: where the rounds of its points go. Owns the file.

One row per phase of one trial, in these columns:

- `run_id`, `workload`, `scenario`, `backend`, `actors`, `object_bytes`, `steps_per_message`, `minibatch`, `parameters`
  and `trial` as in `measurements.csv`; `parameters` are the point's, by which the two files can be joined
- `started_at`: when this trial began
- `rounds`: how many measured rounds were recorded, which may be fewer than `parameters` say
- `phase`: `hub`, `serialise`, `submit`, `transfer`, `wait` or `compute` (see harness.studies.breakdown.phases), which
  add up to `round`; `plain_round`, the same round without recording, which tells what the recording costs; and of the
  worker lanes (see harness.stats.stragglers) `lanes`, how many computed, `straggler`, in which part of the rounds the
  one that most often ended its computing last did so, `lag`, how much later than the median lane the last one ended,
  as a part of the round, the mean, and `lag_p95`, its 95th percentile over rounds. A file may be without these four,
  from a time when there were none.
- `value`: the mean per measured round, or what is said above, empty where there is none
- `unit`: `ns`, `lanes`, `part of rounds` or `part of a round`
- `status`: `ok`, or in one line why there is no value
"""

from dataclasses import dataclass

from harness.store.csv_table import CsvTable
from harness.store.measurements import OfPoint

HUB = "hub"  # the code of the hub itself: next broadcast, learning step, environment of all agents
COMPUTE = "compute"  # the code of a worker
SERIALISE = "serialise"  # values to bytes or shared memory, and back
SUBMIT = "submit"  # handing work over: the call without its serialising, and what the runtime does between reactions
TRANSFER = "transfer"  # nobody works: a message is on its way, or a process waits for a core
WAIT = "wait"  # some workers work, others have ended or not begun
PHASES = (HUB, SERIALISE, SUBMIT, TRANSFER, WAIT, COMPUTE)
ROUND = "round"
PLAIN_ROUND = "plain_round"


@dataclass(frozen=True)
class PhaseRow(OfPoint):
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


BREAKDOWN = CsvTable("breakdown.csv", PhaseRow, "breakdown", "take the rounds apart")

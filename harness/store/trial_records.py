"""`trials.csv` of a run's directory: each trial's outcome and circumstances. The values come from its turns."""

from dataclasses import dataclass

from harness.store.row import Amount, Count, HasStatus, OfTrial, Positive, PositiveFinite, Text
from harness.store.status import OK
from harness.store.table import Table


@dataclass(frozen=True)
class TrialRecord(OfTrial, HasStatus):
    """A trial. The fields are the columns, in their order.

    `duration_s`: its part of the block's time, without its copy. `outside_cores`: how many cores processes outside the
    block kept busy meanwhile. `status`: `ok`, or in one line why there are no turns. `startup_ns`: until its first
    round could begin. `peak_bytes`: the most memory its processes held together. `measured_ns`: wall time of its turns.
    `steady`: whether the warm-up ended by its rule, not by the limit. `idle_share`: the part of a core that it used
    between turns. `parked`: how many processes were stopped there. `lead_ns`: how long it ran in each turn before it
    was timed, a whole round at least. `p50_ns` to `p99_ns`: percentiles of its round times.
    """

    workload: Text
    parameters: Text
    backend: Text
    trial: Count
    started_at: str
    duration_s: Amount
    outside_cores: Amount
    workers: Positive | None = None
    digest: str = ""
    status: Text = OK
    startup_ns: Count | None = None
    peak_bytes: Count | None = None
    gil_enabled: bool | None = None
    measured_ns: Count | None = None
    warmup_turns: Count | None = None
    warmup_s: Amount | None = None
    steady: bool | None = None
    idle_share: Amount | None = None
    parked: Count | None = None
    lead_ns: Count | None = None
    p50_ns: PositiveFinite | None = None
    p95_ns: PositiveFinite | None = None
    p99_ns: PositiveFinite | None = None


TRIALS = Table("trials.csv", TrialRecord, "restore the file, or measure into another directory", "trial_key")

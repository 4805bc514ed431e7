"""`breakdown.csv` of a run's directory: the phases of the rounds of its points."""

from dataclasses import dataclass

from harness.store.row import Count, Finite, OfPoint, Positive, Text
from harness.store.table import Table

HUB = "hub"  # the code of the hub itself: next broadcast, learning step, environment of all agents
COMPUTE = "compute"  # the code of a worker
SERIALISE = "serialise"  # values to bytes or shared memory, and back (of Ray)
# Handing work over: the call without its pickling, and what the runtime does between reactions.
SUBMIT = "submit"
TRANSFER = "transfer"  # nobody works: a message is made or on its way, or a process waits for a core
WAIT = "wait"  # some workers work, others have ended or not begun
PHASES = (HUB, SERIALISE, SUBMIT, TRANSFER, WAIT, COMPUTE)
ROUND = "round"  # the sum of the phases
PLAIN_ROUND = "plain_round"  # the same round without recording, which shows the cost of recording
# The number of lanes that computed, and the part of the rounds with the most frequent last lane. Then the time from the
# end of the median lane to the end of that one: the mean and the 95th percentile.
LANES, STRAGGLER, LAG, LAG_95 = "lanes", "straggler", "lag", "lag_p95"
LANE_UNITS = {LANES: "lanes", STRAGGLER: "part of rounds", LAG: "part of a round", LAG_95: "part of a round"}


@dataclass(frozen=True)
class PhaseRow(OfPoint):
    """One phase of one trial. The fields are the columns, in their order.

    Columns that `measurements.csv` has as well mean the same, and join the two files. `rounds`: how many were
    recorded, which may be fewer than `parameters` say. `phase`: one of `PHASES`, `ROUND`, `PLAIN_ROUND`, or of
    `LANE_UNITS`. `value`: the mean per round.
    """

    run_id: str
    started_at: str
    workload: Text
    scenario: str
    backend: Text
    actors: Positive | None
    object_bytes: Count | None
    steps_per_message: Positive | None
    minibatch: Positive | None
    parameters: str
    trial: Count
    rounds: Count
    phase: Text
    value: Finite | None
    unit: str
    status: Text


BREAKDOWN = Table("breakdown.csv", PhaseRow, "remove the file, or write it anew with `harness breakdown`")

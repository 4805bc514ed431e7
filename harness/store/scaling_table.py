"""`scaling.csv` and `messages.csv` of a run's directory: speed-up by number of workers, and the cost of a message."""

from dataclasses import dataclass
from typing import Annotated

from harness.prediction import MessageCost
from harness.store.row import Count, HasStatus, OfPoint, Positive, PositiveFinite, Text, one_of
from harness.store.table import Table

PREDICTED, PAID, HERE, MEASURED = "predicted", "predicted_paid", "predicted_here", "measured"
PREDICTIONS = (PREDICTED, PAID, HERE)


@dataclass(frozen=True)
class ScalingRow(OfPoint, HasStatus):
    """A speed-up. The fields are the columns, in their order.

    Columns that `measurements.csv` has as well mean the same, and join the two files. `backend`: the backend that was
    traced or measured. `kind`:

    - `predicted`: over one worker, as the static graph allows, with free messages and a core for each worker
    - `predicted_paid`: the same with messages paid for
    - `predicted_here`: the same on the cores that there are
    - `measured`: over the serial loop

    `trials`: how many repetitions the number is of. `speedup`: their geometric mean, of ratios of neighbouring turns if
    measured. `low` and `high`: its 95 % interval.
    """

    run_id: str
    workload: Text
    scenario: str
    backend: Text
    actors: Positive | None
    object_bytes: Count | None
    steps_per_message: Positive | None
    minibatch: Positive | None
    parameters: str
    kind: Annotated[str, one_of((*PREDICTIONS, MEASURED))]
    workers: Positive
    trials: Count
    speedup: PositiveFinite | None
    low: PositiveFinite | None
    high: PositiveFinite | None
    status: Text


@dataclass(frozen=True)
class CostRow:
    """A part of a message's cost in one trial. The fields are the columns, in their order.

    `part`: `send_ns` of its sender's processor, `receive_ns` of its receiver's, `latency_ns` between them, and
    `byte_ns` for each byte.
    """

    run_id: str
    trial: Count
    cores: Positive
    part: Annotated[str, one_of(MessageCost._fields)]
    value: PositiveFinite
    unit: str

    @classmethod
    def of(cls, run_id: str, trial: int, cores: int, costs: MessageCost) -> "list[CostRow]":
        """The rows of a trial."""
        units = {"byte_ns": "ns/byte"}
        return [cls(run_id, trial, cores, part, ns, units.get(part, "ns")) for part, ns in costs._asdict().items()]


_REMEDY = "remove the file, or write it anew with `harness scaling`"
SCALING = Table("scaling.csv", ScalingRow, _REMEDY)
MESSAGES = Table("messages.csv", CostRow, _REMEDY)

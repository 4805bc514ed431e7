"""`predictions.csv` of a run's directory: the speed-up of each backend at each point, predicted before the run."""

from dataclasses import dataclass

from harness.store.row import Amount, HasStatus, OfPoint, Positive, PositiveFinite, Text
from harness.store.table import Table


@dataclass(frozen=True)
class PredictionRow(OfPoint, HasStatus):
    """A prediction. The fields are the columns, in their order.

    `cores`: the number of cores it is for. `message_ns`, `byte_ns`: the cost of a message and of a byte on this
    backend, as measured on this machine before. `speedup`: over the plain loop. `status`: `ok`, or in one line why
    there is no prediction.
    """

    run_id: Text
    workload: Text
    parameters: Text
    backend: Text
    cores: Positive
    message_ns: Amount | None
    byte_ns: Amount | None
    speedup: PositiveFinite | None
    status: Text

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.speedup is not None) != self.ok:
            raise ValueError(f"expected a speedup where the status is ok, and only there; got {self.speedup}")


PREDICTIONS = Table("predictions.csv", PredictionRow, "remove the file and measure into another directory")

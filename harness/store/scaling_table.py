"""`scaling.csv` and `messages.csv` of a run's directory: speed-up by number of workers, and what a message costs.

Owns the files.

`scaling.csv` has one row per point, kind and number of workers, in these columns:

- `run_id`, `workload`, `scenario`, `actors`, `object_bytes`, `steps_per_message`, `minibatch` and `parameters` as in
  `measurements.csv`; `parameters` are the point's, by which the two files can be joined
- `backend`: whose reactions were traced (of what is predicted), or what was measured
- `kind`: `predicted`, the speed-up over one worker that the static graph allows, at no cost of messages and with a core
  for each worker, from what the reactions took in a traced run on one worker; `predicted_paid`, the same with messages
  paid for; `predicted_here`, this on the cores that there are; or `measured`, the speed-up over the serial loop. A file
  may be without the second and third, from a time when there were none.
- `workers`: how many
- `trials`: how many repetitions the number is of
- `speedup`, `low`, `high`: the median (where measured, of ratios paired by trial) and its 95 % interval, or nothing
- `status`: `ok`, or in one line why there is no speed-up

`messages.csv` has one row per trial and part of a message's cost (see harness.studies.scaling.messages):

- `run_id` and `trial`; `cores`: how many there were
- `part`: `send_ns` of its sender's processor, `receive_ns` of its receiver's, `latency_ns` between them, and `byte_ns`
  for each byte
- `value`: in `unit`, `ns` or `ns/byte`
"""

import math
from dataclasses import dataclass

from harness.store.csv_table import CsvTable
from harness.store.measurements import OfPoint, check_parameters
from reactorlib.view.playing import MessageCost

PREDICTED, PAID, HERE, MEASURED = "predicted", "predicted_paid", "predicted_here", "measured"
PREDICTIONS = (PREDICTED, PAID, HERE)


@dataclass(frozen=True)
class ScalingRow(OfPoint):
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


@dataclass(frozen=True)
class CostRow:
    """A part of what a message costs; the fields are the columns, in their order."""

    run_id: str
    trial: int
    cores: int
    part: str
    value: float
    unit: str


def _valid(row: ScalingRow) -> bool:
    numbers = [number for number in (row.speedup, row.low, row.high) if number is not None]
    check_parameters(row.parameters)
    return row.kind in (*PREDICTIONS, MEASURED) and all(0 < number < math.inf for number in numbers)


def _valid_cost(row: CostRow) -> bool:
    return row.part in MessageCost._fields and 0 < row.value < math.inf


def cost_rows(run_id: str, trial: int, cores: int, costs: MessageCost) -> list[CostRow]:
    """The rows of a trial."""
    return [
        CostRow(run_id, trial, cores, part, value, "ns/byte" if part == "byte_ns" else "ns")
        for part, value in costs._asdict().items()
    ]


SCALING = CsvTable("scaling.csv", ScalingRow, "scaling", "measure the scaling", _valid)
MESSAGES = CsvTable("messages.csv", CostRow, "scaling", "measure the scaling", _valid_cost)

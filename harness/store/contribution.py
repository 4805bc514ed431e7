"""A contribution: one JSON file with a run's rows, machine, versions, and the predictions made before it.

Its rows are those of `measurements.csv` and `predictions.csv`, with the same types and bounds.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

import msgspec

from harness.grouping import grouped
from harness.store import digests
from harness.store.files import read_json, write_atomically
from harness.store.measurement_table import Measurement
from harness.store.prediction_table import PredictionRow
from harness.store.row import Amount, Positive, PositiveFinite, Text

FORMAT = 2  # of the file
LOOP, OURS, ALONE = digests.REFERENCE_BACKEND, "reactor-processes", "reactor-inline"
REMEDY = "write it anew with `make bench PRESET=contribute`"


class ContributedCpu(TypedDict):
    """The processor. There may be more fields."""

    model: Text
    cores: Positive | None


class ContributedMachine(TypedDict):
    """The part of `machine.json` that is contributed: no paths, no command lines."""

    cpu: ContributedCpu
    cores_allowed: Positive
    cores_usable: NotRequired[Positive]
    threads_per_core: Positive
    numa_nodes: Positive
    memory_gib: PositiveFinite
    kernel: Text
    interpreter: dict[str, str | bool]
    packages: dict[str, str]


@dataclass(frozen=True)
class Contribution:
    """The content of a file. `measurements`: the main metric's rows. `predictions`: one for each point and each backend
    but the loop. Files of early versions have those of reactors alone. `dirty`: whether the code had uncommitted
    changes. `outside_cores`: how many cores other processes kept busy, the mean over trials.

    Raises ValueError where the parts do not belong together.
    """

    format: Annotated[int, msgspec.Meta(ge=FORMAT, le=FORMAT)]
    run_id: Text
    commit: Text
    dirty: bool | None
    machine: ContributedMachine
    outside_cores: Amount | None
    measurements: list[Measurement]
    predictions: list[PredictionRow]

    def __post_init__(self) -> None:
        if not self.measurements:
            raise ValueError("measurements: expected at least one row")
        others = {row.run_id for row in self.measurements} | {row.run_id for row in self.predictions}
        for other in others - {self.run_id}:
            raise ValueError(f"a row of run {other} in the file of run {self.run_id}")
        for rows in grouped(self.measurements, lambda row: row.key).values():
            if len(rows) > 1:
                raise ValueError(f"measurements: {rows[0].trial_key} is there twice")
        for trial, reason in digests.disagreements(self.measurements).items():
            raise ValueError(f"measurements: {trial}: {reason}")
        ahead = {(row.point, row.backend): row.cores for row in self.predictions}
        if len(ahead) < len(self.predictions):
            raise ValueError("predictions: one is there twice")
        early = {row.backend for row in self.predictions} == {OURS}
        for point, own in grouped(self.measurements, lambda row: row.point).items():
            backends = {row.backend for row in own}
            for backend in (LOOP, OURS):
                if backend not in backends:
                    raise ValueError(f"measurements: {point} lacks {backend}")
            for backend in sorted({OURS} if early else backends - {LOOP}):
                if ahead.get((point, backend)) != self.cores:
                    raise ValueError(f"predictions: expected one of {point} {backend} for {self.cores} cores")

    @property
    def cores(self) -> int:
        return self.machine["cores_allowed"]

    @property
    def oversubscribed(self) -> bool:
        """Whether the machine has fewer cores than the run was given."""
        return self.cores > self.machine.get("cores_usable", self.cores)


def read(path: Path) -> Contribution:
    """The content of a file. Raises UsageError, which names the file, the place and the fault."""
    return msgspec.convert(read_json(path, Contribution, REMEDY), Contribution)


def write(path: Path, content: Contribution) -> None:
    """Write a file, a row in each line. Raises OSError."""
    fields = msgspec.to_builtins(content).items()
    text = ",\n".join(f"{json.dumps(name)}: {_in_lines(value)}" for name, value in fields)
    write_atomically(path, f"{{\n{text}\n}}\n".encode())


def _in_lines(value: object) -> str:
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"

"""Predicts and measures how a run's points scale: what a message costs, a traced run, and blocks of turns on so many
workers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.measure import block
from harness.measure.block import Effort
from harness.measure.measured_processes import Subject, SubjectError, call, workload_order
from harness.plan.grid import Grid, Point
from harness.prediction import WORKERS, MessageCost
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.store.scaling_table import HERE, MEASURED, MESSAGES, PREDICTED, PREDICTIONS, SCALING, CostRow, ScalingRow
from harness.store.status import OK, UNSUPPORTED
from harness.studies.scaling.tracing import TRACED
from reactorlib.cpus import available_cpus

SERIAL = "serial"
PARALLEL = "reactor-processes"

# The name of the subject with a number of workers.
_workers = "{} workers".format


def worker_counts(cores: int) -> list[int]:
    """The numbers of workers to measure: those of the prediction up to the cores, all cores, and twice as many."""
    return sorted({*(count for count in WORKERS if count <= cores), cores, 2 * cores})


@dataclass(frozen=True)
class Study:
    """The directory, id and grid of a finished run, and those of its points that run again.

    `most_rounds`: the limit for a trial, or None. `tell`: shows the progress.
    """

    path: Path
    run_id: str
    grid: Grid
    points: Sequence[Point]
    trials: int
    most_rounds: int | None
    tell: Callable[[str], None]


@dataclass
class _Point:
    """The findings at a point so far: predictions by kind, and by subject the log ratios of its blocks' turns."""

    point: Point
    speed_ups: dict[str, list[Mapping[str, float]]] = field(default_factory=dict)
    blocks: dict[str, list[list[float]]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # also of the predictions, by PREDICTED

    def rows(self, run_id: str, counts: Sequence[int]) -> Iterator[ScalingRow]:
        for kind in PREDICTIONS:
            told = self.speed_ups.get(kind, [])
            failure = self.failures.get(PREDICTED, "")
            for count in counts if kind == HERE else WORKERS:
                if failure or told:
                    found = failure or intervals.mean([speed_up[str(count)] for speed_up in told])
                    yield self._row(run_id, kind, count, found)
        for count in counts:
            failure, blocks = self._failure(_workers(count)), self.blocks.get(_workers(count))
            if failure or blocks:
                yield self._row(run_id, MEASURED, count, failure or intervals.ratio_of_turns(blocks or ()))

    def _failure(self, name: str) -> str:
        own, serial = (self.failures.get(one, "") for one in (name, SERIAL))
        return own or (serial if serial.startswith(UNSUPPORTED) else serial and f"{SERIAL}: {serial}")

    def _row(self, run_id: str, kind: str, workers: int, outcome: Estimate | str) -> ScalingRow:
        """`outcome`: the speed-up, or why there is none."""
        if isinstance(outcome, str):
            told: dict[str, Any] = {"trials": 0, "speedup": None, "low": None, "high": None, "status": outcome}
        else:
            told = {"trials": outcome.count, "speedup": outcome.value, "low": outcome.low, "high": outcome.high}
            told["status"] = OK
        backend = PARALLEL if kind == MEASURED else TRACED
        return ScalingRow(run_id=run_id, backend=backend, kind=kind, workers=workers, **told, **self.point.columns)

    def predict(self, most_rounds: int | None, limit_s: float, cost: MessageCost | str, counts: Sequence[int]) -> None:
        """Trace it once. `cost`: of a message, or why it is not known."""
        if isinstance(cost, str):
            self.failures.setdefault(PREDICTED, cost)
            return
        values = self.point.values
        values["rounds"] = min(values["rounds"], most_rounds or values["rounds"])
        arguments = [self.point.workload, values, cost._asdict(), counts, available_cpus()]
        try:
            told = call("harness.studies.scaling.tracing:predicted", arguments, limit_s)
        except SubjectError as error:
            self.failures.setdefault(PREDICTED, str(error))
            return
        for kind in PREDICTIONS:
            self.speed_ups.setdefault(kind, []).append(told[kind])

    def measure(self, counts: Sequence[int], seed: str, effort: Effort) -> None:
        """A block of the serial loop and of each number of workers."""
        subjects = [self._subject(SERIAL, SERIAL), *(self._subject(_workers(n), PARALLEL, workers=n) for n in counts)]
        sides = block.run(subjects, effort, seed)
        for name, side in sides.items():
            if side.failure or side.digest != sides[SERIAL].digest:
                self.failures.setdefault(name, side.failure or "digest mismatch: not what the serial loop computes")
            elif name != SERIAL and (ratios := block.log_ratios(sides[SERIAL], side)):
                self.blocks.setdefault(name, []).append(ratios)

    def _subject(self, name: str, backend: str, **options: int) -> Subject:
        point = self.point
        order = workload_order(point.workload, backend, point.values, point.verify_rounds, **options)
        return Subject(name, order, matched=True, pinned=backend == SERIAL)  # memory decides how many live beside it


def run(study: Study) -> tuple[list[ScalingRow], list[CostRow]]:
    """Write `scaling.csv` and `messages.csv` into the run's directory, block by block; returns their rows."""
    SCALING.check_absent(study.path)
    found, effort = list(map(_Point, study.points)), replace(block.EFFORT, limit_s=study.grid.time_limit_s)
    counts = worker_counts(available_cpus())
    rows, costs = list[ScalingRow](), list[CostRow]()
    for trial in range(study.trials):
        cost = _message_cost(effort.limit_s)
        if isinstance(cost, MessageCost):
            costs += CostRow.of(study.run_id, trial, available_cpus(), cost)
            MESSAGES.write(study.path, costs)
        for one in found:
            one.predict(study.most_rounds, effort.limit_s, cost, counts)
            one.measure(counts, f"{one.point.name} {trial}", effort)
            rows = [row for each in found for row in each.rows(study.run_id, counts)]
            SCALING.write(study.path, rows)
            told = "; ".join(f"{ask}: {failure}" for ask, failure in one.failures.items()) or "ok"
            study.tell(f"trial {trial + 1}/{study.trials} {one.point.name}: {told}")
    return rows, costs


def _message_cost(limit_s: float) -> MessageCost | str:
    """The cost of a message now, or the reason why it is not known."""
    try:
        return MessageCost(**call("harness.studies.scaling.messages:measured", [], limit_s))
    except SubjectError as error:
        return str(error)

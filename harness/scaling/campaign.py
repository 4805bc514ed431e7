"""Predicts and measures how a run's points scale, each measurement in a fresh process under its own supervisor."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import manager, stats
from harness.errors import UsageError
from harness.grid import Grid, Point, backends_of
from harness.record import UNSUPPORTED
from harness.scaling.measure import TRACED
from harness.scaling.table import MEASURED, PREDICTED, SCALING, Row
from harness.selection import Setting
from reactorlib.cpus import available_cpus
from reactorlib.view.scaling import WORKERS
from workloads.catalogue import WORKLOADS
from workloads.parameter import ParameterError, parameters_of, unknown

Tell = Callable[[str], None]

SERIAL = "serial"
PARALLEL = "reactor-processes"

# What a process is asked for: the traced run, the serial loop, or so many workers.
Ask = str | int


def worker_counts(cores: int) -> list[int]:
    """On how many workers is measured: the counts of the prediction as far as the cores go, and all cores."""
    return sorted({*(count for count in WORKERS if count <= cores), cores})


def points(grid: Grid, workloads: Sequence[str], settings: Sequence[Setting]) -> list[Point]:
    """The grid's points, or those of the workloads and values asked for; raises UsageError where there are none."""
    chosen = grid.points_of(workloads)
    for setting in settings:
        concerned = [point for point in chosen if setting.concerns(point.workload) and setting.name in point.values]
        if not concerned:
            known = {name: None for point in chosen if setting.concerns(point.workload) for name in point.values}
            raise UsageError(f"--set {setting}: {unknown('parameter', setting.name, known, limit=40)}")
        kept = [point for point in concerned if point.values[setting.name] in _values(setting, point.workload)]
        if not kept:
            there = ", ".join(dict.fromkeys(str(point.values[setting.name]) for point in concerned))
            raise UsageError(f"--set {setting}: the run has no such point, only {setting.name}={there}")
        chosen = [point for point in chosen if point not in concerned or point in kept]
    return chosen


def _values(setting: Setting, workload: str) -> Iterator[Any]:
    declared = parameters_of(WORKLOADS[workload].task_class())[setting.name]
    for text in setting.values:
        try:
            yield declared.parse(text)
        except ParameterError as error:
            raise UsageError(f"--set {setting}: {workload}: {error}") from None


@dataclass
class _Point:
    """What is known of a point so far: answers by what was asked for, then by trial."""

    point: Point
    answers: dict[Ask, dict[int, Mapping[str, Any]]] = field(default_factory=dict)
    failures: dict[Ask, str] = field(default_factory=dict)

    def add(self, ask: Ask, trial: int, answer: Mapping[str, Any], failure: str) -> None:
        if failure:
            self.failures.setdefault(ask, failure)
        else:
            self.answers.setdefault(ask, {})[trial] = answer

    def rows(self, run_id: str, counts: Sequence[int]) -> Iterator[Row]:
        """All rows of the point for which something is known."""
        if PREDICTED in self.answers or PREDICTED in self.failures:
            for count in WORKERS:
                speed_ups = [answer["speed_up"][str(count)] for answer in self.answers.get(PREDICTED, {}).values()]
                failure = self.failures.get(PREDICTED, "")
                yield self._row(run_id, PREDICTED, TRACED, count, None if failure else stats.median(speed_ups), failure)
        for count in counts:
            failure = self._failure(count)
            paired = sorted(self.answers.get(count, {}).keys() & self.answers.get(SERIAL, {}).keys())
            if failure:
                yield self._row(run_id, MEASURED, PARALLEL, count, None, failure)
            elif paired:
                times = [[self.answers[ask][trial]["round_ns"] for trial in paired] for ask in (SERIAL, count)]
                yield self._row(run_id, MEASURED, PARALLEL, count, stats.ratio(*times), "")

    def _failure(self, count: int) -> str:
        for ask in (count, SERIAL):
            if ask in self.failures:
                prefix = f"{SERIAL}: " if ask == SERIAL and not self.failures[ask].startswith(UNSUPPORTED) else ""
                return prefix + self.failures[ask]
        states = {answer["state_digest"] for ask in (count, SERIAL) for answer in self.answers.get(ask, {}).values()}
        return "digest mismatch: the final state is not the serial loop's" if len(states) > 1 else ""

    def _row(
        self, run_id: str, kind: str, backend: str, workers: int, found: stats.Estimate | None, failure: str
    ) -> Row:
        return Row(
            run_id=run_id,
            backend=backend,
            kind=kind,
            workers=workers,
            trials=found.count if found else 0,
            speedup=found.value if found else None,
            low=found.low if found else None,
            high=found.high if found else None,
            status=failure or "ok",
            **self.point.columns,
        )


def run(
    path: Path,
    run_id: str,
    chosen: Sequence[Point],
    *,
    trials: int,
    most_rounds: int | None,
    time_limit_s: float,
    tell: Tell,
) -> list[Row]:
    """Write `scaling.csv` into the run's directory, measurement by measurement; returns its rows."""
    SCALING.check_absent(path)
    found = {point: _Point(point) for point in chosen}
    counts = worker_counts(available_cpus())
    todo = [
        (trial, point, ask)
        for trial in range(trials)
        for point in chosen
        for ask in _asks(point, counts, f"{point.workload} {point.parameters} {trial}")
    ]
    if not todo:
        raise UsageError(f"none of the points runs on {SERIAL} and {PARALLEL}, which are compared")
    rows: list[Row] = []
    for number, (trial, point, ask) in enumerate(todo, start=1):
        answer, failure = _ask(path, point, ask, most_rounds, time_limit_s)
        found[point].add(ask, trial, answer, failure)
        rows = [row for one in found.values() for row in one.rows(run_id, counts)]
        SCALING.write(path, rows)
        what = f"on {ask}" if isinstance(ask, int) else ask
        tell(f"[{number}/{len(todo)}] {point.workload} {point.scenario} {what} trial {trial}: {failure or 'ok'}")
    return rows


def _asks(point: Point, counts: Sequence[int], seed: str) -> list[Ask]:
    """What a trial of a point asks for, in a random order, so that a machine whose speed drifts slows all alike."""
    if len(backends_of(point.workload, [SERIAL, PARALLEL, TRACED])) < 3:
        return []
    asks: list[Ask] = [PREDICTED, SERIAL, *counts]
    random.Random(seed).shuffle(asks)
    return asks


def _ask(
    path: Path, point: Point, ask: Ask, most_rounds: int | None, time_limit_s: float
) -> tuple[Mapping[str, Any], str]:
    """What a fresh process answers, and why it has no answer."""
    values = point.values
    if most_rounds is not None:
        values["rounds"] = min(values["rounds"], most_rounds)
    backend = PARALLEL if isinstance(ask, int) else TRACED if ask == PREDICTED else SERIAL
    order = {
        "scaling": PREDICTED if ask == PREDICTED else MEASURED,
        "workload": point.workload,
        "backend": backend,
        "parameters": values,
        "workers": ask if isinstance(ask, int) else None,
    }
    result, failure = manager.ask(order, path / f".scaling-{ask}.log", time_limit_s)
    return result.get("scaling", {}), failure


def failed(rows: Sequence[Row]) -> bool:
    """Whether something went wrong, other than that a point can't be run so."""
    return any(row.is_failure for row in rows)

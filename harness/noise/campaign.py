"""Compares backends with themselves, as a run compares one with another.

A comparison is what a report makes of two backends at a point: as many pairs of trials, each trial in a fresh process,
the two of a pair one after the other in a seeded random order, the ratio of the two medians with its interval. Here
both sides are the same backend, so that an interval without 1 is wrong. No trial serves two comparisons: what many
comparisons have in common is the machine, and nothing else.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import details, manager, stats
from harness.errors import UsageError
from harness.grid import Grid, Point, backends_of
from harness.noise.table import NOISE, Row
from harness.record import OK
from harness.summary import MAIN_METRICS
from workloads.catalogue import BACKENDS
from workloads.parameter import unknown

Tell = Callable[[str], None]
Values = Mapping[str, float]

# They take seconds to start, and so are compared with themselves only where they are named.
_SLOW_TO_START = "ray-"


@dataclass(frozen=True)
class Subject:
    """What is compared with itself."""

    point: Point
    backend: str


class TrialError(RuntimeError):
    """A trial that gave no result; the text is the reason in one line."""


def subjects(path: Path, grid: Grid, workloads: Sequence[str], backends: Sequence[str]) -> list[Subject]:
    """For each workload asked for the point of the run whose trials were quickest, on each backend asked for.

    Without a workload: the one with the quickest trials. Without a backend: all of the run but Ray's. Raises
    UsageError.
    """
    for name in backends:
        if name not in BACKENDS:
            raise UsageError(unknown("backend", name, BACKENDS))
    for name in workloads:
        if name not in (point.workload for point in grid.points):
            raise UsageError(f"the run has no points of {name}")
    took: dict[tuple[str, str], float] = {}
    for detail in details.read(path / details.FILE_NAME).values():
        key = detail.workload, detail.parameters
        took[key] = min(took.get(key, detail.duration_s), detail.duration_s)
    ranked = sorted(grid.points, key=lambda point: took.get((point.workload, point.parameters), float("inf")))
    quickest: dict[str, Point] = {}
    for point in ranked:
        quickest.setdefault(point.workload, point)
    points = [quickest[name] for name in dict.fromkeys(workloads or [ranked[0].workload])]
    names = backends or [name for name in grid.backends if not name.startswith(_SLOW_TO_START)] or grid.backends
    found = [Subject(point, name) for point in points for name in backends_of(point.workload, names)]
    if not found:
        raise UsageError(f"none of {', '.join(names)} runs {', '.join(point.workload for point in points)}")
    return found


def run(
    path: Path,
    run_id: str,
    chosen: Sequence[Subject],
    *,
    comparisons: int,
    trials: int,
    time_limit_s: float,
    tell: Tell,
) -> list[Row]:
    """Write `noise.csv` into the run's directory, comparison by comparison; returns its rows.

    `comparisons`: of all subjects together, in turns; `trials`: pairs of each. Raises OSError.
    """
    NOISE.check_absent(path)
    rows: list[Row] = []
    for index in range(comparisons):
        subject = chosen[index % len(chosen)]
        rows.append(_compare(path, run_id, subject, index, trials, time_limit_s))
        NOISE.write(path, rows)
        row = rows[-1]
        outcome = f"{row.ratio:.3f} [{row.low:.3f}, {row.high:.3f}]" if row.ratio is not None else row.status
        tell(f"[{index + 1}/{comparisons}] {row.workload} {row.scenario} {row.backend} against itself: {outcome}")
    return rows


def _compare(path: Path, run_id: str, subject: Subject, index: int, trials: int, time_limit_s: float) -> Row:
    point = subject.point
    sides: tuple[list[Values], list[Values]] = [], []
    metric, estimate, status = next(name for name in MAIN_METRICS if name in point.units), None, OK
    try:
        for trial in range(trials):
            order = [0, 1]
            random.Random(f"{point.parameters} {subject.backend} {index} {trial}").shuffle(order)
            for side in order:
                sides[side].append(_measure(path, subject, time_limit_s))
        metric, above, below = _positive(sides)
        estimate = stats.ratio(above, below)
    except TrialError as error:
        status = str(error)
    return Row(
        run_id=run_id,
        workload=point.workload,
        scenario=point.scenario,
        backend=subject.backend,
        parameters=point.parameters,
        metric=metric,
        trials=trials,
        comparison=index,
        ratio=estimate.value if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        contains_one=estimate.low <= 1 <= estimate.high if estimate else None,
        status=status,
    )


def _positive(sides: tuple[list[Values], list[Values]]) -> tuple[str, list[float], list[float]]:
    """The metric by which the report compares, with both sides' values of it.

    An overhead is a difference, and may come out as nothing: then the next metric is taken.
    """
    for metric in MAIN_METRICS:
        values = [[trial[metric] for trial in side if metric in trial] for side in sides]
        if all(values) and min(map(min, values)) > 0:
            return metric, values[0], values[1]
    raise TrialError("no metric is positive in every trial")


def _measure(path: Path, subject: Subject, time_limit_s: float) -> Values:
    """The metrics of one trial; raises TrialError."""
    order = {
        "workload": subject.point.workload,
        "backend": subject.backend,
        "parameters": subject.point.values,
        "verify_rounds": 0,  # the run has verified this point
    }
    result, failure = manager.ask(order, path / f".noise-{subject.backend}.log", time_limit_s)
    if failure:
        raise TrialError(failure)
    return {metric["name"]: metric["value"] for metric in result["metrics"]}

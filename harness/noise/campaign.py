"""Compares backends with themselves, as a run compares one with another: every backend twice in blocks of turns.

A comparison is of as many blocks as a run has trials. Both sides are the same backend, so that an interval without 1
is wrong. No block serves two comparisons of a backend.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import stats
from harness.engine import block
from harness.engine.block import Effort, Measured
from harness.engine.subject import Subject, workload_order
from harness.errors import UsageError
from harness.grid import Grid, Point, backends_of, runs_alone
from harness.noise import floor
from harness.noise.table import NOISE, Row
from harness.record import OK
from harness.selection import check_known
from workloads.catalogue import BACKENDS

Tell = Callable[[str], None]

# They take seconds to start, and so are compared with themselves only where they are named.
_SLOW_TO_START = "ray-"


@dataclass(frozen=True)
class Compared:
    """The backends that are compared with themselves at a point."""

    point: Point
    backends: tuple[str, ...]


def subjects(grid: Grid, workloads: Sequence[str], backends: Sequence[str]) -> list[Compared]:
    """For each workload asked for the first point of the run, with the backends asked for.

    Without a workload: the run's first point. Without a backend: all of the run but Ray's. Raises UsageError.
    """
    check_known("backend", backends, BACKENDS)
    firsts = {point.workload: point for point in reversed(grid.points)}
    for name in workloads:
        if name not in firsts:
            raise UsageError(f"the run has no points of {name}")
    points = [firsts[name] for name in dict.fromkeys(workloads)] or [grid.points[0]]
    names = backends or [name for name in grid.backends if not name.startswith(_SLOW_TO_START)] or grid.backends
    found = [Compared(point, tuple(own)) for point in points if (own := backends_of(point.workload, names))]
    if not found:
        raise UsageError(f"none of {', '.join(names)} runs {', '.join(point.workload for point in points)}")
    return found


def run(
    path: Path, run_id: str, chosen: Sequence[Compared], *, comparisons: int, trials: int, effort: Effort, tell: Tell
) -> list[Row]:
    """Write `noise.csv` into the run's directory; returns its rows.

    `comparisons`: of all backends together; `trials`: blocks of each. Raises OSError.
    """
    NOISE.check_absent(path)
    rows: list[Row] = []
    while len(rows) < comparisons:
        for one in chosen:
            added = _compare(run_id, one, len(rows), trials, effort)
            rows += added[: comparisons - len(rows)]
            NOISE.write(path, rows)
            for row in added:
                outcome = f"{row.ratio:.3f} [{row.low:.3f}, {row.high:.3f}]" if row.ratio is not None else row.status
                tell(f"{row.comparison + 1}/{comparisons}: {row.workload} {row.scenario} {row.backend} {outcome}")
    return rows


def _compare(run_id: str, one: Compared, first: int, trials: int, effort: Effort) -> list[Row]:
    blocks = [_block(one, f"{first} {trial}", effort) for trial in range(trials)]
    rows = []
    for index, backend in enumerate(one.backends, start=first):
        sides = [(found[backend], found[f"{backend} again"]) for found in blocks]
        failure = next((side.failure for pair in sides for side in pair if side.failure), "")
        estimate = None if failure else stats.ratio_of_turns([block.log_ratios(*pair) for pair in sides])
        rows.append(floor.row(run_id, one.point, backend, trials, index, estimate, failure or OK))
    return rows


def _block(one: Compared, seed: str, effort: Effort) -> dict[str, Measured]:
    point = one.point
    every = [
        Subject(
            name,
            workload_order(point.workload, backend, point.values),  # the run has verified this point
            on_one_cpu=runs_alone(point.values, BACKENDS[backend]),
        )
        for backend in one.backends
        for name in (backend, f"{backend} again")
    ]
    return {found.subject.name: found for found in block.run(every, effort, seed)}

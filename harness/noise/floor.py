"""What backends compared with themselves tell of a run: the noise floor, below which a difference is undecided."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median

from harness import record, stats
from harness.checks import REFERENCE_BACKEND
from harness.grid import Point
from harness.grouping import grouped
from harness.noise.table import Row
from harness.stats import CONFIDENCE, Estimate
from harness.turns import Turns
from plots.quantity import counted

HEADING = "Noise floor"
# Fewer intervals with 1 in them than intervals that keep their promise would show in one of a hundred such campaigns.
UNLIKELY = 0.01
NOT_MEASURED = "not measured; `python -m harness noise DIR` compares backends of this run with themselves"


@dataclass(frozen=True)
class Floor:
    """A backend against itself at one point.

    `half_width`: as a factor, what lies between the middle of an interval and its end, in the median over all
    comparisons; `widest`: the largest of them; `farthest`: the ratio farthest from 1, as a factor of at least 1.
    """

    workload: str
    scenario: str
    backend: str
    comparisons: int
    trials: int
    containing: int
    half_width: float
    widest: float
    farthest: float

    @property
    def factor(self) -> float:
        """How far from 1 a ratio of equals is, at most: as far as one was, and no farther than an interval reaches."""
        return min(self.farthest, self.half_width)

    @property
    def holds(self) -> bool:
        """Whether the intervals contain 1 often enough."""
        return at_most(self.containing, self.comparisons) >= UNLIKELY


def at_most(containing: int, comparisons: int) -> float:
    """The chance that no more than so many of the intervals contain 1, where each does with what it promises."""
    return sum(
        math.comb(comparisons, count) * CONFIDENCE**count * (1 - CONFIDENCE) ** (comparisons - count)
        for count in range(containing + 1)
    )


def of_run(rows: Sequence[record.Row], taken: Turns) -> Iterator[Row]:
    """A run's own comparisons: of the backends that some of its blocks had twice."""
    cells = grouped((row for row in rows if row.ok), lambda row: (row.point, row.backend))
    found: dict[tuple[tuple[str, str], str, int], Estimate] = {}  # by point, backend and the copy beside it
    for (point, backend), own in cells.items():
        trials = {one.trial for one in own}
        # How much its starts differ is in a backend's ratio to the loop, too.
        for name, copy in (backend, 1), (REFERENCE_BACKEND, 0):
            beside = taken.log_ratios(point, (backend, 0), (name, copy), trials)
            if beside and (name, copy) != (backend, 0):
                found[point, backend, copy] = stats.ratio_of_turns(beside)
    for (point, backend, copy), ratio in stats.moderated(found, itemgetter(0)).items():
        if copy:
            of, *_ = cells[point, backend]
            yield row(of.run_id, of, backend, ratio.count, 0, ratio, record.OK)


def row(
    run_id: str,
    point: Point | record.Row,
    backend: str,
    trials: int,
    comparison: int,
    ratio: Estimate | None,
    status: str,
) -> Row:
    """The row of a comparison."""
    return Row(
        run_id=run_id,
        workload=point.workload,
        scenario=point.scenario,
        backend=backend,
        parameters=point.parameters,
        metric="round_time",
        trials=trials,
        comparison=comparison,
        ratio=ratio.value if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        contains_one=ratio.low <= 1 <= ratio.high if ratio else None,
        status=status,
    )


def floors(rows: Sequence[Row]) -> list[Floor]:
    """One for each backend and point."""
    compared = (row for row in rows if row.ratio is not None)
    return list(map(_floor, grouped(compared, lambda row: (row.workload, row.parameters, row.backend)).values()))


def _floor(rows: Sequence[Row]) -> Floor:
    halves = [math.sqrt(row.high / row.low) for row in rows if row.low is not None and row.high is not None]
    return Floor(
        workload=rows[0].workload,
        scenario=rows[0].scenario,
        backend=rows[0].backend,
        comparisons=len(rows),
        trials=rows[0].trials,
        containing=sum(row.contains_one is True for row in rows),
        half_width=median(halves),
        widest=max(halves),
        farthest=max(max(row.ratio, 1 / row.ratio) for row in rows if row.ratio is not None),
    )


def within(ratio: float, factor: float) -> bool:
    """Whether a ratio is nearer to 1 than the factor that `by_workload` tells."""
    return 1 / factor < ratio < factor


def by_workload(rows: Sequence[Row]) -> dict[str, float]:
    """The factor below which a difference at a workload is undecided: of the noisiest backend measured there."""
    found: dict[str, float] = {}
    for floor in floors(rows):
        found[floor.workload] = max(found.get(floor.workload, 1.0), floor.factor)
    return found


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """What the report says."""
    if not rows:
        yield NOT_MEASURED
    for floor in floors(rows):
        text = (
            f"{floor.workload} {floor.scenario}: {floor.backend} against itself, "
            f"{counted(floor.comparisons, 'comparison')} of {counted(floor.trials, 'trial')}: {_told(floor)}"
        )
        yield text if floor.holds else f"{text}. That is too few: intervals here promise more than they hold"
    for workload, factor in by_workload(rows).items():
        yield f"{workload}: differences of less than {percent(factor)} are called undecided"
    failed = [row for row in rows if row.ratio is None]
    if failed:
        yield f"{counted(len(failed), 'comparison')} failed, the first: {failed[0].status}"


def _told(floor: Floor) -> str:
    if floor.comparisons == 1:
        return (
            f"the ratio is off by {percent(floor.farthest)}; its interval reaches {percent(floor.half_width)} to "
            f"either side and {'contains' if floor.containing else 'does not contain'} 1"
        )
    return (
        f"{floor.containing} of {floor.comparisons} intervals contain 1; they reach {percent(floor.half_width)} to "
        f"either side in the median, {percent(floor.widest)} at most; the ratio farthest from 1 is off by "
        f"{percent(floor.farthest)}"
    )


def percent(factor: float) -> str:
    """A factor of at least 1 as the part by which it differs from 1, as long as that says more than the factor."""
    if factor >= 2:
        return f"a factor of {factor:.2g}"
    part = (factor - 1) * 100
    return f"{part:.1f} %" if part < 10 else f"{part:.0f} %"

"""The answer of a run: each workload's weakest and strongest point, in numbers and in two sentences.

Reactors on all cores are compared with the plain loop, with the best Ray, and with the reference ceiling. Which Ray is
the best is seen at each point from the results, and the interval counts that choice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness import quantity
from harness.grouping import grouped
from harness.report.summary import LOOP, PointSummary, Summary
from harness.stats.doubts import MEANINGS
from harness.stats.intervals import Estimate
from harness.stats.judgement import FASTER, SLOWER, TOO_FEW, UNDECIDED, standing
from harness.stats.reference_ceiling import CEILING

HEADING = "Answer"
# Losses come first.
_STANDINGS = (SLOWER, UNDECIDED, TOO_FEW, FASTER)


@dataclass(frozen=True)
class Against:
    """How many times as fast as a rival reactors are at a point, and what that shows."""

    rival: str
    ratio: Estimate
    standing: str


@dataclass(frozen=True)
class PointAnswer:
    """Reactors on all cores at one point. A comparison is None where it was not measured.

    `doubts`: the kinds of doubts about the numbers compared.
    """

    point: PointSummary
    loop: Against | None
    ray: Against | None
    ceiling: Estimate | None
    doubts: tuple[str, ...]

    @property
    def starts(self) -> int:
        """The fewest starts behind a ratio of this point."""
        ratios = [one.ratio for one in (self.loop, self.ray) if one]
        return min(one.count for one in ratios or filter(None, [self.ceiling]))

    @property
    def lead(self) -> float:
        """The ratio by which the points of a workload are ordered: to the best Ray, otherwise to the loop."""
        decisive = self.ray or self.loop
        return decisive.ratio.value if decisive else float("inf")


Rival = Callable[[PointAnswer], Against | None]
_RIVALS: Mapping[str, Rival] = {"the best Ray": lambda one: one.ray, "the plain loop": lambda one: one.loop}


@dataclass(frozen=True)
class WorkloadAnswer:
    """A workload's points, from the one with the least lead to the one with the most."""

    workload: str
    points: tuple[PointAnswer, ...]

    @property
    def weakest(self) -> PointAnswer:
        """The point with the least `lead`."""
        return self.points[0]

    @property
    def placed(self) -> tuple[tuple[str, PointAnswer], ...]:
        """The weakest and the strongest point, each with a word for its place; an only one has none."""
        first, last = self.points[0], self.points[-1]
        return (("", first),) if first is last else (("weakest", first), ("strongest", last))

    def worst(self, rival: Rival) -> tuple[Against, PointAnswer] | None:
        """The ratio to a rival that favours reactors least, by how it stands and then by its value, and its point."""
        found = [(against, point) for point in self.points if (against := rival(point)) is not None]
        return min(found, key=lambda pair: (_STANDINGS.index(pair[0].standing), pair[0].ratio.value), default=None)


def answers(*summaries: Summary) -> list[WorkloadAnswer]:
    """An answer for each workload that has a comparison in one of the runs; losses come first."""
    told = [
        one
        for summary in summaries
        for point in summary.points
        if (one := _point(point, summary.ours, summary.floor)) is not None
    ]
    found = (
        WorkloadAnswer(workload, tuple(sorted(points, key=lambda one: one.lead)))
        for workload, points in grouped(told, lambda one: one.point.workload).items()
    )
    return sorted(found, key=_losses_first)


def sentences(found: Sequence[WorkloadAnswer], cores: int | None) -> Iterator[str]:
    """A sentence about the best Ray and one about the plain loop, if they were measured."""
    where = f"on {quantity.counted(cores, 'core')}" if cores else "on all cores"
    for name, rival in _RIVALS.items():
        told = [(one, *own) for one in found if (own := one.worst(rival)) is not None]
        parts = [part for kind in _STANDINGS if (part := _part(told, kind))]
        if parts:
            verb = "have" if parts[0].startswith(TOO_FEW) else "are"
            first = parts[0].replace(" (", f" of {quantity.counted(len(told), 'workload')} (", 1)
            told_of = "; ".join([first, *parts[1:]])
            yield f"Compared with {name}, reactors at their weakest points {where} {verb} {told_of}."


def _part(told: Sequence[tuple[WorkloadAnswer, Against, PointAnswer]], kind: str) -> str:
    """In how many workloads reactors stand so, and each with its ratio; empty without any."""
    own = sorted((one for one in told if one[1].standing == kind), key=lambda one: one[1].ratio.value)
    named = (
        f"{workload.workload} {quantity.times(against.ratio.value)}"
        + ("" if point is workload.weakest else f" at {point.point.label.partition(',')[0]}")
        for workload, against, point in own
    )
    word = f"{TOO_FEW} to decide" if kind == TOO_FEW else kind
    return f"{word} in {len(own)} ({', '.join(named)})" if own else ""


def _losses_first(one: WorkloadAnswer) -> tuple[bool, int, float]:
    standings = [worst[0].standing for rival in _RIVALS.values() if (worst := one.worst(rival)) is not None]
    order = map(_STANDINGS.index, standings)
    return SLOWER not in standings, min(order, default=0), one.weakest.lead


def _point(point: PointSummary, ours: str, floor: float) -> PointAnswer | None:
    own = point.cell(ours)
    if own is None:
        return None
    best, to_loop, ceiling = own.best_ray, own.speedups.get(LOOP), own.speedups.get(CEILING)
    ray = Against(best[1], best[0], standing(best[0], floor)) if best else None
    loop = Against(LOOP, to_loop, standing(to_loop, floor)) if to_loop else None
    if not (ray or loop or ceiling):
        return None
    compared = [own, *(point.cell(one.rival) for one in (loop, ray) if one)]
    # Each doubt in a word or two. The number of trials is in the starts.
    doubts = [doubt for cell in compared if cell for doubt in cell.doubts]
    kinds = (kind for doubt in doubts for kind in MEANINGS if doubt.startswith(kind))
    return PointAnswer(point, loop, ray, ceiling, tuple(dict.fromkeys(kinds)))

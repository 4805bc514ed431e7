"""What is said of each workload, what is lost first: reactors on all cores against the best Ray, in one thread against
the loop. As clauses, and as sentences of them.

Which Ray is the best is seen at each point from the results themselves, and the interval counts that choice. What ran
in one thread is held against the loop alone, which does too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import quantity
from harness.grouping import grouped
from harness.report.summary import LIMIT, Cell, PointSummary, Summary
from harness.stats import intervals, noise_floor
from harness.stats.intervals import Estimate

RAY = "ray-"
BEST_RAY = "the best Ray"
LOOP = "serial"
_ALONE = "reactor-inline"


def sentences(summary: Summary) -> list[str]:
    """The verdict of each workload in a sentence."""
    return [f"{workload}: {'; '.join(map(_told, clauses))}." for workload, clauses in judged(summary)]


def judged(summary: Summary) -> list[tuple[str, list["Clause"]]]:
    """Each workload with what there is to say of it; workloads in which reactors lose somewhere come first."""
    found = []
    floors = noise_floor.by_workload(summary.noise)
    for workload, points in grouped(summary.points, lambda point: point.workload).items():
        clauses = list(_clauses(points, parallel(summary), floors.get(workload, 1.0)))
        if clauses:
            found.append((workload, clauses))
    return sorted(found, key=lambda item: not any(clause.loses for clause in item[1]))


def parallel(summary: Summary) -> str:
    """The reactor backend that uses all cores: threads where the interpreter has no lock, else processes."""
    locked = summary.machine.get("gil_enabled_after_imports", {}).get("reactor-threads", True)
    return "reactor-processes" if locked else "reactor-threads"


def against(points: Sequence[PointSummary], backend: str, baseline: str, noise: float) -> "Clause | None":
    """The ratios of a backend to a baseline, or to BEST_RAY, over some points; None if there are none.

    `noise`: the factor below which a difference is noise.
    """
    ratios = []
    for point in points:
        for cell in point.cells:
            if cell.backend == backend and (found := _held_against(cell, baseline)) is not None:
                where = filter(None, (point.label if len(points) > 1 else "", found[1]))
                ratios.append((found[0], ", ".join(where)))
    if not ratios:
        return None
    ratios.sort(key=lambda item: item[0].value)
    return Clause(backend, baseline, tuple(ratios), noise)


def _held_against(cell: Cell, baseline: str) -> tuple[Estimate, str] | None:
    """A cell's ratio to a baseline, and what that is called there beyond the point; None without one."""
    if baseline == BEST_RAY:
        return best_ray(cell)
    return (cell.speedups[baseline], "") if baseline in cell.speedups else None


def best_ray(cell: Cell) -> tuple[Estimate, str] | None:
    """The ratio to the Ray that does best against this cell, and which that is."""
    found = {name: ratio for name, ratio in cell.speedups.items() if name.startswith(RAY)}
    if not found:
        return None
    return intervals.least(list(found.values())), min(found, key=lambda name: found[name].value)


@dataclass(frozen=True)
class Clause:
    """The ratios to a baseline over the points of a workload, from the lowest to the highest, with their labels."""

    backend: str
    baseline: str
    ratios: tuple[tuple[Estimate, str], ...]
    floor: float = 1.0  # the factor below which a difference is noise

    @property
    def loses(self) -> bool:
        """Whether the baseline wins somewhere, by the whole interval. Nothing can win against the limit."""
        return self.baseline != LIMIT and any(self._standing(ratio) == "slower" for ratio, _ in self.ratios)

    @property
    def ends(self) -> tuple[Estimate, ...]:
        """The lowest and the highest ratio; one where they are the same."""
        return tuple(dict.fromkeys((self.ratios[0][0], self.ratios[-1][0])))

    @property
    def standing(self) -> str:
        """In a word or few what the ratios say; nothing of the limit, which nothing can pass."""
        if self.baseline == LIMIT:
            return ""
        first, *rest = map(self._standing, self.ends)
        return " to ".join(dict.fromkeys(["slower" if self.loses else first, *rest]))

    def _standing(self, ratio: Estimate) -> str:
        return "undecided" if self.undecided(ratio) else "faster" if ratio.value > 1 else "slower"

    def undecided(self, ratio: Estimate) -> bool:
        """Whether a ratio is within the noise floor, or cannot be told from 1."""
        return undecided(ratio, self.floor)


def undecided(ratio: Estimate, noise: float) -> bool:
    """Whether a ratio is within the noise floor, or cannot be told from 1 by an interval that says something."""
    return noise_floor.within(ratio.value, noise) or ratio.low <= 1 <= ratio.high or not ratio.decides


def _clauses(points: Sequence[PointSummary], backend: str, noise: float) -> Iterator[Clause]:
    for ours, baseline in ((backend, BEST_RAY), (_ALONE, LOOP), (backend, LIMIT)):
        span = against(points, ours, baseline, noise)
        if span is not None:
            yield span


def _told(span: Clause) -> str:
    what = "of the machine's limit" if span.baseline == LIMIT else f"the speed of {span.baseline}"
    lowest, highest = span.ratios[0], span.ratios[-1]
    ends = (lowest,) if lowest[0] is highest[0] else (lowest, highest)
    return f"{span.backend} runs at {' to '.join(_end(span, *end) for end in ends)} {what}"


def _end(span: Clause, ratio: Estimate, where: str) -> str:
    undecided = "undecided" if span.baseline != LIMIT and span.undecided(ratio) else ""
    notes = ", ".join(filter(None, (where, undecided)))
    return f"{quantity.ratio(ratio)} ({notes})" if notes else quantity.ratio(ratio)

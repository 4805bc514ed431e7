"""The ratios of a backend to a rival over the points of a workload; which reactors stand for all, and the best Ray.

The best Ray of a point is chosen from the results themselves, and the interval counts that choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.summary import LIMIT, Cell, PointSummary, Summary
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.stats.judgement import SLOWER, standing, undecided

RAY = "ray-"
BEST_RAY = "the best Ray"
LOOP = "serial"
_ON_NODES, _LOCAL = "reactor-nodes", ("reactor-processes", "reactor-threads")


def parallel(summary: Summary) -> str:
    """The reactor backend that uses all cores: threads where the interpreter has no lock, else processes; ranks on two
    nodes in a run of nothing else.
    """
    if any(row.backend == _ON_NODES for row in summary.rows) and not any(row.backend in _LOCAL for row in summary.rows):
        return _ON_NODES
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
        return self.baseline != LIMIT and any(standing(ratio, self.floor) == SLOWER for ratio, _ in self.ratios)

    @property
    def ends(self) -> tuple[Estimate, ...]:
        """The lowest and the highest ratio; one where they are the same."""
        return tuple(dict.fromkeys((self.ratios[0][0], self.ratios[-1][0])))

    def undecided(self, ratio: Estimate) -> bool:
        """Whether a ratio is within the noise floor, or cannot be told from 1."""
        return undecided(ratio, self.floor)

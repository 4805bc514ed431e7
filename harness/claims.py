"""The paper's claims of reactors over Ray, each with what was measured here, and how much of it is how Ray is called.

What was published comes from another machine with other versions, and decides nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness import verdict
from harness.metrics import HIGHER_IS_BETTER
from harness.noise import floor
from harness.summary import Summary
from harness.verdict import BEST_RAY, LOOP, RAY, Clause

HEADING = "The paper's claims"
HEADINGS = ("claim", "published", "here, against ray-paper", "best Ray", "plain loop", "holds here", "Ray otherwise")
EXPLAINED = (
    "'published': how many times as fast as Ray the paper's reactors were, from the lowest of its points to the "
    "highest. The next columns tell the same of reactors on all cores here, against Ray as the paper calls it, the "
    "best Ray and a plain loop. 'Ray otherwise': how many times as fast as ray-paper Ray's other backends are, which "
    "is no gain of reactors."
)
NOTHING = "-"
_THEIRS, _OURS, _PAPER = "ray", "lf", "ray-paper"
_CLAIMS = {
    "broadcast_gather": "broadcast and gather: lower times, by actors and by object size",
    "gym_sampling": "Gymnasium: 1.21x the observations per second",
    "atari_sampling": "Atari: 11.62x the observations per second",
    "q_learning": "synchronized parallel Q-learning: 31.2 % less time",
    "multi_agent": "multi-agent inference: 5.12x with 10 agents",
}


@dataclass(frozen=True)
class Row:
    """A claim. `published`: the lowest and the highest ratio. A clause is None where there is nothing to compare."""

    claim: str
    published: tuple[float, float]
    ray_paper: Clause
    best_ray: Clause | None
    loop: Clause | None
    otherwise: tuple[Clause, ...]

    @property
    def holds(self) -> str:
        """Whether reactors are faster than Ray here too, called as in the paper, and by as much."""
        ratios = [ratio for ratio, _ in self.ray_paper.ratios]
        undecided = [self.ray_paper.undecided(ratio) for ratio in ratios]
        if self.ray_paper.loses:
            return "no" if not any(undecided) and max(ratio.value for ratio in ratios) < 1 else "not everywhere"
        if any(undecided):
            return "undecided" if all(undecided) else "undecided at some points"
        least, most = self.published
        if min(ratio.low for ratio in ratios) > most:
            return "yes, by more"
        return "yes, by less" if max(ratio.high for ratio in ratios) < least else "yes"


def rows(summary: Summary) -> Iterator[Row]:
    """A row for each claim that the results have points of, with Ray called as the paper does."""
    ours, floors = verdict.parallel(summary), floor.by_workload(summary.noise)
    for workload, claim in _CLAIMS.items():
        points = [point for point in summary.points if point.workload == workload]
        noise = floors.get(workload, 1.0)
        clause = verdict.against(points, ours, _PAPER, noise)
        if clause is None:
            continue
        others = {cell.backend: None for point in points for cell in point.cells if cell.backend.startswith(RAY)}
        otherwise = (verdict.against(points, name, _PAPER, noise) for name in others)
        yield Row(
            claim,
            _published(workload),
            clause,
            verdict.against(points, ours, BEST_RAY, noise),
            verdict.against(points, ours, LOOP, noise),
            tuple(one for one in otherwise if one is not None),
        )


def cells(row: Row) -> tuple[str, ...]:
    """A row as text."""
    return (
        row.claim,
        "{:.2f}x to {:.2f}x".format(*row.published),
        *(_told(clause) for clause in (row.ray_paper, row.best_ray, row.loop)),
        row.holds,
        "; ".join(f"{clause.backend} {_told(clause)}" for clause in row.otherwise) or NOTHING,
    )


def _told(clause: Clause | None) -> str:
    return NOTHING if clause is None else " to ".join(map(verdict.number, clause.ends))


def _published(workload: str) -> tuple[float, float]:
    """How many times as fast as Ray the paper's reactors were, at the lowest and the highest of its points."""
    from plots import published  # takes a second to import

    ratios = []
    for figure in published.figures():
        if figure.startswith(workload):
            systems = {one.system: one for one in published.series(figure)}
            theirs, ours = systems[_THEIRS], systems[_OURS]
            for x, value in ours.points.items():
                ratio = theirs.points[x].value / value.value
                ratios.append(1 / ratio if ours.metric in HIGHER_IS_BETTER else ratio)
    return min(ratios), max(ratios)

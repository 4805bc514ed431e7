"""The paper's claims of reactors over Ray, each with what was measured here, and how much of it is how Ray is called.

What was published comes from another machine with other versions, and decides nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness import quantity
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.quantity import counted
from harness.report import verdict
from harness.report.summary import PointSummary, Summary
from harness.report.verdict import BEST_RAY, LOOP, RAY, Clause
from harness.stats import noise_floor
from harness.stats.intervals import Estimate

HEADING = "The paper's claims"
HEADINGS = (
    "claim",
    "published",
    "here, against ray-paper",
    "best Ray",
    "plain loop",
    "direction here",
    "Ray otherwise",
)
EXPLAINED = (
    "Of points that the paper has as well. 'published': how many times as fast as Ray its reactors were, from the "
    "lowest of these points to the highest. The next columns show the same of reactors on all cores here, against Ray "
    "as the paper calls it, the best Ray and a plain loop. 'same direction': reactors beat ray-paper at each "
    "of these points. Magnitudes are not comparable: the published ones are of Lingua Franca's runtime, an older Ray "
    "and another number of cores. 'Ray otherwise': how many times as fast as ray-paper Ray's other backends are, no "
    "gain of reactors."
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
# Parameters that the paper's points have; at others than these it has none. Where a row lacks one, it had no choice.
_GIVEN: dict[str, dict[str, object]] = {
    "gym_sampling": {"actors": 15, "steps_per_message": 1},
    "atari_sampling": {"actors": 15, "steps_per_message": 1, "frame_skip": 4},
    "q_learning": {"actors": 16, "steps": 100, "representation": "arrays"},
    "multi_agent": {"representation": "arrays"},
}
_FIGURES = {
    "broadcast_gather": ("broadcast_gather_actors", "broadcast_gather_size"),
    "multi_agent": ("multi_agent_agents",),
}
_ACTORS = 16  # of the figure by size
_MIB, _MB = 2**20, 10**6


@dataclass(frozen=True)
class ClaimRow:
    """A claim. `published`: the paper's ratio at each point that is here, too; `beside`: the one here; `lacking`: how
    many of its points are not here. A clause is None where there is nothing to compare.
    """

    claim: str
    published: tuple[float, ...]
    lacking: int
    beside: tuple[Estimate, ...]
    ray_paper: Clause
    best_ray: Clause | None
    loop: Clause | None
    otherwise: tuple[Clause, ...]

    @property
    def holds(self) -> str:
        """Whether reactors are faster here than Ray called as in the paper; by how much is not comparable."""
        undecided = [self.ray_paper.undecided(ratio) for ratio in self.beside]
        if self.ray_paper.loses:
            return "no" if not any(undecided) and max(one.value for one in self.beside) < 1 else "not everywhere"
        if any(undecided):
            return "undecided" if all(undecided) else "undecided at some points"
        return "same direction"


def rows(summary: Summary) -> Iterator[ClaimRow]:
    """A row for each claim that the results have points of, with Ray called as the paper does."""
    ours, floors = verdict.parallel(summary), noise_floor.by_workload(summary.noise)
    for workload, claim in _CLAIMS.items():
        published, noise = _published(workload), floors.get(workload, 1.0)
        points = [one for one in summary.points if one.workload == workload and _place(one) in published]
        clause = verdict.against(points, ours, _PAPER, noise)
        if clause is None:
            continue
        alone = [(_place(point), verdict.against([point], ours, _PAPER, noise)) for point in points]
        beside = [(place, one.ratios[0][0]) for place, one in alone if one is not None]
        others = {cell.backend: None for point in points for cell in point.cells if cell.backend.startswith(RAY)}
        otherwise = (verdict.against(points, name, _PAPER, noise) for name in others)
        yield ClaimRow(
            claim,
            tuple(published[place] for place, _ in beside),
            len(published) - len(dict(beside)),
            tuple(ratio for _, ratio in beside),
            clause,
            verdict.against(points, ours, BEST_RAY, noise),
            verdict.against(points, ours, LOOP, noise),
            tuple(one for one in otherwise if one is not None),
        )


def cells(row: ClaimRow) -> tuple[str, ...]:
    """A row as text."""
    ends = dict.fromkeys(f"{end(row.published):.2f}x" for end in (min, max))
    some = f" (without {counted(row.lacking, 'point')})" if row.lacking else ""
    return (
        row.claim,
        " to ".join(ends) + some,
        *(_told(clause) for clause in (row.ray_paper, row.best_ray, row.loop)),
        row.holds,
        "; ".join(f"{clause.backend} {_told(clause)}" for clause in row.otherwise) or NOTHING,
    )


def _told(clause: Clause | None) -> str:
    return NOTHING if clause is None else " to ".join(map(quantity.ratio, clause.ends))


def _place(point: PointSummary) -> tuple[str, str] | None:
    """Which point of the paper a point here is, by figure and place on its axis; None where the paper has none such."""
    given = point.parameters
    if any(given.get(name, value) != value for name, value in _GIVEN.get(point.workload, {}).items()):
        return None
    if point.workload == "broadcast_gather":
        nbytes = given["object_bytes"]
        if nbytes == 10 * _MIB:
            return "broadcast_gather_actors", str(given["actors"])
        unit = _MB if nbytes % _MB == 0 else _MIB
        return ("broadcast_gather_size", str(nbytes // unit)) if given["actors"] == _ACTORS else None
    if point.workload == "multi_agent":
        return "multi_agent_agents", str(given["agents"])
    name = given.get("minibatch" if point.workload == "q_learning" else "env", "")
    return point.workload, str(name).removesuffix("-v1")


def _published(workload: str) -> dict[tuple[str, str] | None, float]:
    """How many times as fast as Ray the paper's reactors were, at each of its points."""
    from plots import published  # takes a second to import

    ratios: dict[tuple[str, str] | None, float] = {}
    for figure in _FIGURES.get(workload, (workload,)):
        systems = {one.system: one for one in published.series(figure)}
        theirs, ours = systems[_THEIRS], systems[_OURS]
        for x, value in ours.points.items():
            ratio = theirs.points[x].value / value.value
            ratios[figure, x] = 1 / ratio if ours.metric in HIGHER_IS_BETTER else ratio
    return ratios

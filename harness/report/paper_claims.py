"""The paper's claims of reactors over Ray, each beside the ratios measured here.

Published ratios come from another machine with other versions, and decide nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import quantity
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.quantity import counted
from harness.report import published, threads
from harness.report.summary import LOOP, RAY, RAY_PAPER, Cell, PointSummary, Summary
from harness.report.text_table import NOTHING
from harness.stats.intervals import Estimate
from harness.stats.judgement import FASTER, SLOWER, TOO_FEW, UNDECIDED, standing

HEADING = "The paper's claims"
HEADINGS = (
    "claim", "published", "here, against ray-paper", "best Ray", "plain loop", "direction here", "Ray otherwise",
    "starts",
)  # fmt: skip
EXPLAINED = (
    "Of points that the paper also has. 'published': how many times as fast as Ray its reactors were, from the "
    "lowest of these points to the highest. The next columns show the same of reactors on all cores here. They compare "
    "with Ray as the paper calls it, the best Ray and a plain loop. 'same direction': reactors beat ray-paper at each "
    "of these points. Magnitudes are not comparable: the published ones are of Lingua Franca's runtime, an older Ray "
    "and another number of cores. The row of threads is judged by the best Ray. 'Ray otherwise': how many times as "
    "fast as ray-paper Ray's other backends are. 'starts': behind each ratio of the row."
)
NOT_MEASURED = "not measured"
_HYPOTHESIS = "threads without a GIL: faster than Ray, against the best Ray"
_THEIRS, _OURS = "ray", "lf"
_CLAIMS = {
    "broadcast_gather": "broadcast and gather: lower times, by actors and by object size",
    "gym_sampling": "Gymnasium: 1.21x the observations per second",
    "atari_sampling": "Atari: 11.62x the observations per second",
    "q_learning": "synchronized parallel Q-learning: 31.2 % less time with a minibatch of 500",
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
    """A claim. `published`: the paper's ratio at each point that is also here. `lacking`: the number of its others.
    Of the hypothesis about threads, the paper has no ratio, and the best Ray decides.

    The other ratios are of reactors here at these points, but for `otherwise`, of Ray's other backends to ray-paper.
    """

    claim: str
    published: tuple[float, ...]
    lacking: int
    ray_paper: tuple[Estimate, ...]
    best_ray: tuple[Estimate, ...]
    loop: tuple[Estimate, ...]
    otherwise: dict[str, list[Estimate]]
    floor: float

    @property
    def holds(self) -> str:
        """Whether reactors are faster here than Ray called as in the paper; by how much is not comparable."""
        found = {standing(ratio, self.floor) for ratio in self.ray_paper or self.best_ray}
        if not found:
            return NOT_MEASURED
        if SLOWER in found:
            return "no" if found == {SLOWER} else "not everywhere"
        if len(found) == 1:
            return "same direction" if found == {FASTER} else found.pop()
        return f"{UNDECIDED} at some points" if UNDECIDED in found else f"{TOO_FEW} at some points"


def rows(summary: Summary) -> Iterator[ClaimRow]:
    """A row for each claim that the results have points of, with Ray called as the paper does."""
    for workload, claim in _CLAIMS.items():
        ratios = _published(workload)
        here = [
            (place, point, cell)
            for point in summary.points
            if point.workload == workload and (place := _place(point)) in ratios
            if (cell := point.cell(summary.ours)) is not None and RAY_PAPER in cell.speedups
        ]
        if not here:
            continue
        cells = [cell for _, _, cell in here]
        otherwise: dict[str, list[Estimate]] = {}
        for cell in (cell for _, point, _ in here for cell in point.cells):
            if cell.backend.startswith(RAY) and RAY_PAPER in cell.speedups:
                otherwise.setdefault(cell.backend, []).append(cell.speedups[RAY_PAPER])
        yield ClaimRow(
            claim,
            tuple(ratios[place] for place, _, _ in here),
            len(ratios) - len({place for place, _, _ in here}),
            _to(RAY_PAPER, cells),
            tuple(best[0] for cell in cells if (best := cell.best_ray) is not None),
            _to(LOOP, cells),
            otherwise,
            summary.floors.get(workload, 1.0),
        )


def hypothesis(summary: Summary | None) -> ClaimRow:
    """The hypothesis that threads without a GIL accelerate reinforcement learning, from a run that has them, if any."""
    found, floors = (threads.results(summary), summary.floors) if summary else ([], {})
    own = [cell for _, cell in found]
    best = tuple(best[0] for cell in own if (best := cell.best_ray) is not None)
    floor = max((floors.get(point.workload, 1.0) for point, _ in found), default=1.0)
    return ClaimRow(_HYPOTHESIS, (), 0, _to(RAY_PAPER, own), best, _to(LOOP, own), {}, floor)


def _to(baseline: str, cells: Sequence[Cell]) -> tuple[Estimate, ...]:
    return tuple(cell.speedups[baseline] for cell in cells if baseline in cell.speedups)


def cells(row: ClaimRow) -> tuple[str, ...]:
    """A row as text."""
    some = f" (without {counted(row.lacking, 'point')})" if row.lacking else ""
    return (
        row.claim,
        (quantity.from_to(row.published, "{:.2f}x".format) or NOTHING) + some,
        *map(range_of, (row.ray_paper, row.best_ray, row.loop)),
        row.holds,
        "; ".join(f"{name} {range_of(found)}" for name, found in row.otherwise.items()) or NOTHING,
        quantity.from_to(one.count for one in (*row.ray_paper, *row.best_ray, *row.loop)) or NOTHING,
    )


def range_of(ratios: Sequence[Estimate]) -> str:
    """The lowest and the highest ratio."""
    ordered = sorted(ratios, key=lambda one: one.value)
    return " to ".join(dict.fromkeys(map(quantity.ratio, (*ordered[:1], *ordered[-1:])))) or NOTHING


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
    ratios: dict[tuple[str, str] | None, float] = {}
    for figure in _FIGURES.get(workload, (workload,)):
        systems = published.series(figure)
        for x, value in systems[_OURS].points.items() if systems else ():
            ratio = systems[_THEIRS].points[x].value / value.value
            ratios[figure, x] = 1 / ratio if systems[_OURS].metric in HIGHER_IS_BETTER else ratio
    return ratios

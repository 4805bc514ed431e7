"""The paper's claims of reactors over Ray, each beside the ratios measured here.

Published ratios come from another machine with other versions, and decide nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from harness import quantity
from harness.grouping import grouped
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.quantity import counted
from harness.report import published, threads
from harness.report.summary import LOOP, RAY, RAY_PAPER, Cell, PointSummary, Summary
from harness.report.text_table import NOTHING, TextTable
from harness.report.words import explanation
from harness.stats.intervals import Estimate
from harness.stats.judgement import FASTER, SLOWER, TOO_FEW, UNDECIDED, standing

HEADING = "The paper's claims"
HEADINGS = (
    "claim", "published", "here, against ray-paper", "best Ray", "plain loop", "direction here", "Ray otherwise",
    "starts",
)  # fmt: skip
EXPLAINED = explanation("claims")
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


def table(summary: Summary) -> TextTable:
    """A row for each claim that the results have points of, with Ray called as the paper does."""
    return TextTable(HEADING, HEADINGS, tuple(_rows(summary)))


def _rows(summary: Summary) -> Iterator[tuple[str, ...]]:
    for workload, claim in _CLAIMS.items():
        ratios = _published(workload)
        here = [
            (place, point, cell)
            for point in summary.points
            if point.workload == workload and (place := _place(point)) in ratios
            if (cell := point.cell(summary.ours)) is not None and RAY_PAPER in cell.speedups
        ]
        if here:
            places = {place for place, _, _ in here}
            told = quantity.from_to((ratios[place] for place in places), "{:.2f}x".format)
            if lacking := len(ratios) - len(places):
                told += f" (without {counted(lacking, 'point')})"
            others = (cell for _, point, _ in here for cell in point.cells if cell.backend.startswith(RAY))
            otherwise = grouped((one for one in others if RAY_PAPER in one.speedups), lambda one: one.backend)
            yield _row(claim, told, [cell for _, _, cell in here], otherwise, summary.floors.get(workload, 1.0))


def hypothesis(summary: Summary | None) -> tuple[str, ...]:
    """The hypothesis that threads without a GIL accelerate reinforcement learning, from a run that has them, if any."""
    found, floors = (threads.results(summary), summary.floors) if summary else ([], {})
    floor = max((floors.get(point.workload, 1.0) for point, _ in found), default=1.0)
    return _row(_HYPOTHESIS, NOTHING, [cell for _, cell in found], {}, floor)


def _row(
    claim: str, told: str, cells: Sequence[Cell], otherwise: Mapping[str, Sequence[Cell]], floor: float
) -> tuple[str, ...]:
    """`told`: the paper's ratios. `cells`: of reactors at its points here. `otherwise`: of Ray's other backends there.

    Without a ratio to Ray as the paper calls it, that to the best Ray decides.
    """
    ray_paper, loop = _to(RAY_PAPER, cells), _to(LOOP, cells)
    best_ray = [best[0] for cell in cells if (best := cell.best_ray) is not None]
    return (
        claim,
        told,
        *map(range_of, (ray_paper, best_ray, loop)),
        _direction(ray_paper or best_ray, floor),
        "; ".join(f"{name} {range_of(_to(RAY_PAPER, own))}" for name, own in otherwise.items()) or NOTHING,
        quantity.from_to(one.count for one in (*ray_paper, *best_ray, *loop)) or NOTHING,
    )


def _to(baseline: str, cells: Sequence[Cell]) -> list[Estimate]:
    return [cell.speedups[baseline] for cell in cells if baseline in cell.speedups]


def _direction(ratios: Sequence[Estimate], floor: float) -> str:
    """Whether reactors are faster here as well. By how much is not comparable."""
    found = {standing(ratio, floor) for ratio in ratios}
    if not found:
        return NOT_MEASURED
    if SLOWER in found:
        return "no" if found == {SLOWER} else "not everywhere"
    if len(found) == 1:
        return "same direction" if found == {FASTER} else found.pop()
    return f"{UNDECIDED} at some points" if UNDECIDED in found else f"{TOO_FEW} at some points"


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
        for x, value in systems[_OURS].points.items():
            ratio = systems[_THEIRS].points[x].value / value.value
            ratios[figure, x] = 1 / ratio if systems[_OURS].metric in HIGHER_IS_BETTER else ratio
    return ratios

"""The paper's claims of reactors over Ray, each beside the ratios measured here.

Published ratios come from another machine with other versions, and decide nothing.
"""

from collections.abc import Mapping, Sequence

from harness import quantity
from harness.grouping import grouped
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.report import published, threads
from harness.report.summary import LOOP, RAY, RAY_PAPER, Cell, PointSummary, Summary
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats.intervals import Estimate
from harness.stats.judgement import FASTER, SLOWER, TOO_FEW, UNDECIDED, standing
from workloads.catalogue import WORKLOADS

HEADING = "The paper's claims"
HEADINGS = (
    "claim", "published", "here, against ray-paper", "best Ray", "plain loop", "direction here", "Ray otherwise",
    "starts",
)  # fmt: skip
EXPLAINED = explanation("claims")
NOT_MEASURED = "not measured"
_HYPOTHESIS = "threads without a GIL: faster than Ray, against the best Ray"
_THEIRS, _OURS = "ray", "lf"
_MIB, _MB = 2**20, 10**6  # of the axis of objects: the published sizes are whole in one of them


def table(summary: Summary) -> TextTable:
    """A row for each claim that the results have points of, with Ray called as the paper does."""
    rows = []
    for workload, claim in ((one.name, one.claim) for one in WORKLOADS.values() if one.claim):
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
                told += f" (without {quantity.counted(lacking, 'point')})"
            others = (cell for _, point, _ in here for cell in point.cells if cell.backend.startswith(RAY))
            otherwise = grouped((one for one in others if RAY_PAPER in one.speedups), lambda one: one.backend)
            rows.append(_row(claim["text"], told, [cell for _, _, cell in here], otherwise, summary.floor))
    return TextTable(HEADING, HEADINGS, tuple(rows))


def hypothesis(summary: Summary | None) -> tuple[str, ...]:
    """The hypothesis that threads without a GIL accelerate reinforcement learning, from a run that has them, if any."""
    found, floor = (threads.results(summary), summary.floor) if summary else ([], 1.0)
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
        return "not everywhere" if FASTER in found else "no"
    if len(found) == 1:
        return "same direction" if found == {FASTER} else found.pop()
    return f"{UNDECIDED} at some points" if UNDECIDED in found else f"{TOO_FEW} at some points"


def range_of(ratios: Sequence[Estimate]) -> str:
    """The lowest and the highest ratio."""
    ordered = sorted(ratios, key=lambda one: one.value)
    return " to ".join(dict.fromkeys(map(quantity.ratio, (*ordered[:1], *ordered[-1:])))) or NOTHING


def _place(point: PointSummary) -> tuple[str, str] | None:
    """Which point of the paper a point here is, by figure and place on its axis; None where the paper has none such."""
    own = point.parameters
    for figure, told in WORKLOADS[point.workload].claim["figures"].items():
        if all(own.get(name, value) == value for name, value in told["given"].items()):
            x = own.get(told["axis"], "")
            if told["axis"] == "object_bytes":
                x //= _MB if x % _MB == 0 else _MIB
            return figure, str(x).removesuffix("-v1")
    return None


def _published(workload: str) -> dict[tuple[str, str] | None, float]:
    """How many times as fast as Ray the paper's reactors were, at each of its points."""
    ratios: dict[tuple[str, str] | None, float] = {}
    for figure in WORKLOADS[workload].claim["figures"]:
        systems = published.series(figure)
        for x, value in systems[_OURS].points.items():
            ratio = systems[_THEIRS].points[x].value / value.value
            ratios[figure, x] = 1 / ratio if systems[_OURS].metric in HIGHER_IS_BETTER else ratio
    return ratios

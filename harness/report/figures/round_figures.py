"""Figures over all workloads: how long a round takes, and how near each backend comes to the reference ceiling."""

from collections.abc import Callable, Iterator, Sequence

from harness import quantity
from harness.report.figures import figure_points as shared
from harness.report.summary import LOOP, RAY, Cell, PointSummary, Summary
from harness.stats.intervals import Estimate
from harness.stats.reference_ceiling import CEILING, is_limit
from plots.chart import REST, WORK, Bar, BarPanel, Chart, Scale


def _chosen(summary: Summary, has: Callable[[Cell], Estimate | None]) -> list[PointSummary]:
    """One point of each workload and environment: the one with most to show."""

    def shown(point: PointSummary) -> int:
        return sum(has(cell) is not None for cell in point.cells)

    return shared.best_of(
        (point for point in summary.points if point.workload in shared.NAMES and shown(point)),
        lambda point: (point.workload, point.parameters.get("env")),
        lambda point: (shown(point), shared.preference(point.parameters)),
    )


def round_time(summary: Summary, *, everything: bool) -> Chart | None:
    """The time of a round on each backend; solid is what the serial loop takes for the same work."""
    points = [
        point
        for point in _chosen(summary, _round_ns)
        if (loop := point.cell(LOOP)) is not None and _round_ns(loop) is not None and len(point.cells) > 1
    ]
    scale = Scale("time of a round", quantity.duration_tick)
    return shared.chart(
        _rounds_found(summary, points),
        "Solid: the serial loop's time for the same work. Hatched: what comes on top of it.",
        [
            BarPanel(
                shared.title(point),
                scale,
                tuple(_round_bars(point, _contestants(summary, point, everything))),
            )
            for point in points
        ],
        "In brackets: times the serial loop's round, from turns taken beside each other.",
    )


def _contestants(summary: Summary, point: PointSummary, everything: bool) -> list[str]:
    return [name for name in shared.backends(summary, [point], everything=everything) if not is_limit(name)]


def _round_ns(cell: Cell) -> Estimate | None:
    return cell.metrics.get("round_time")


def _of_loop(point: PointSummary, cell: Cell) -> Estimate | None:
    """How many times the loop's round a round takes; None where the main metric leaves simulated work out."""
    lead = None if point.parameters.get("work_seconds") else cell.speedups.get(LOOP)
    return lead.inverse() if lead else None


def _round_bars(point: PointSummary, chosen: Sequence[str]) -> Iterator[Bar]:
    times, cells = shared.values_at(point, chosen, _round_ns), {cell.backend: cell for cell in point.cells}
    for name, one in sorted(times.items(), key=lambda item: item[1].value):
        ratio, work = _of_loop(point, cells[name]), min(times[LOOP].value, one.value)
        factor = f" ({quantity.times(ratio.value)})" if ratio else ""
        yield Bar(name, one, quantity.duration(one.value) + factor, ((WORK, work), (REST, one.value - work)))


def _rounds_found(summary: Summary, points: list[PointSummary]) -> str:
    own, rays = [], []
    for point in points:
        found = {cell.backend: one for cell in point.cells if (one := _of_loop(point, cell)) is not None}
        own += [found[summary.ours]] if summary.ours in found else []
        of_rays = [one for name, one in found.items() if name.startswith(RAY)]
        rays += [min(of_rays, key=lambda one: one.value)] if of_rays else []
    if not own or not rays:
        return "How long a round takes"
    return f"A round takes reactors {shared.span(own)} the plain loop's time, the fastest Ray {shared.span(rays)}"


def hardware_limit(summary: Summary, *, everything: bool) -> Chart | None:
    """The speed of each backend in percent of the reference ceiling."""

    def percent(cell: Cell) -> Estimate | None:
        share = cell.speedups.get(CEILING)
        return share.scaled(100) if share else None

    points = [point for point in _chosen(summary, percent) if point.workload != "overhead"]
    panels = []
    for point in points:
        values = shared.values_at(point, _contestants(summary, point, everything), percent)
        if values:
            bars = shared.bars(values, "{:.0f} %".format, most_first=True)
            panels.append(BarPanel(shared.title(point), Scale("% of the reference ceiling"), bars, line=100.0))
    own = [one.value for point in points if (cell := point.cell(summary.ours)) and (one := percent(cell))]
    told = quantity.from_to(own, "{:.0f} %".format)
    reached = f"reactors reach {told}" if told else "what each backend reaches"
    return shared.chart(
        f"{shared.on_cores(summary)}, {reached} of the reference ceiling",
        "",
        panels,
        "100 %: plain loops on all cores in lockstep, which exchange nothing and wait by reactorlib's own waiter.",
        "For broadcast and gather: the copies alone. No-op reactions have no work to share. Paired by turn.",
    )

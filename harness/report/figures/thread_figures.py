"""The figure about threads without a GIL: speed by environment and by object size, memory and start-up."""

from collections.abc import Iterator

from harness import quantity
from harness.report import threads
from harness.report.figures import figure_points as shared
from harness.report.figures import sampling_figures
from harness.report.summary import PointSummary, Summary
from harness.stats.reference_ceiling import is_limit
from plots.chart import BarPanel, Chart, LinePanel, Scale

_COSTS = (
    ("peak_rss", "Memory", Scale("MiB of all processes together"), 2**20, "{:.0f} MiB".format),
    ("startup_time", "Start-up", Scale("time until the first round", quantity.duration_tick), 1, quantity.duration),
)


def against_processes(summary: Summary, **_: bool) -> Chart | None:
    """Threads without a GIL, processes of the same interpreter, the best Ray and the ceiling."""
    found = threads.results(summary)
    ratios = [one for point, _ in found if (one := threads.ratio(summary, point, threads.PROCESSES)) is not None]
    if not ratios:
        return None
    rays = [best for _, cell in found if (best := cell.best_ray) is not None]
    chosen = [threads.THREADS, threads.PROCESSES, *(name for _, name in rays), *threads.LOCKSTEPS, threads.COPIES]
    other = f", and at {shared.span([lead for lead, _ in rays])} the best Ray's" if rays else ""
    title = f"Threads without a GIL run at {shared.span(ratios)} the speed of processes{other}"
    panels: list[BarPanel | LinePanel] = [*_speeds(summary, chosen), *_costs([point for point, _ in found], chosen)]
    return shared.chart(title, "", panels, "Threads and processes are of one interpreter, Ray is of the suite's own.")


def _speeds(summary: Summary, chosen: list[str]) -> Iterator[LinePanel]:
    by_step = sampling_figures.step_panel(summary, chosen)
    if by_step is not None:
        yield by_step
    sizes = shared.sweep(summary, "broadcast_gather", "overhead", ["object_bytes"])
    if len(sizes.points) > 1:
        x = Scale("size of the array", quantity.size)
        y = Scale("overhead of a round", quantity.duration_tick)
        places = ((point.parameters["object_bytes"], shared.values_at(point, chosen)) for point in sizes.points)
        yield LinePanel(f"Broadcast and gather, {sizes.setting['actors']} actors", x, y, shared.curves(places))


def _costs(found: list[PointSummary], chosen: list[str]) -> Iterator[BarPanel]:
    """Memory and start-up at the point with the largest arrays."""
    point = max(found, key=lambda one: one.parameters.get("object_bytes", 0) * one.parameters.get("actors", 0))
    for metric, name, scale, unit, text in _COSTS:
        values = {
            cell.backend: one.scaled(1 / unit)
            for cell in point.cells
            if cell.backend in chosen and not is_limit(cell.backend) and (one := cell.metrics.get(metric))
        }
        if values:
            yield BarPanel(f"{name}: {point.workload} {point.label}", scale, shared.bars(values, text))

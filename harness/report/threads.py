"""Threads without a GIL beside processes of the same interpreter and Ray: what the page about threads shows.

Ratios are of turns taken beside each other. A cell without a number is a dash.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness import quantity
from harness.report.summary import OURS, Cell, PointSummary, Summary
from harness.report.text_table import NOTHING, TextTable
from harness.stats.intervals import Estimate
from harness.stats.judgement import SLOWER, standing
from harness.stats.point_ratios import PointRatios

THREADS, PROCESSES = f"{OURS}threads-nogil", f"{OURS}processes-nogil"
LOCKSTEPS, COPIES = ("lockstep-nogil", "lockstep-threads-nogil"), "limit"
_LOOP, _LOOP_WITHOUT_GIL = "serial", "serial-nogil"
_BY_SIZE = "broadcast_gather"


def results(summary: Summary) -> list[tuple[PointSummary, Cell]]:
    """The results of threads without a GIL, each with its point."""
    cells = ((point, point.cell(THREADS)) for point in summary.points)
    return [(point, cell) for point, cell in cells if cell is not None and cell.main is not None]


def unsupported(summary: Summary) -> dict[str, str]:
    """By workload, why threads without a GIL could not run."""
    return {
        point.workload: cell.unsupported
        for point in summary.points
        if (cell := point.cell(THREADS)) is not None and cell.unsupported
    }


def ratio(summary: Summary, point: PointSummary, baseline: str, backend: str = THREADS) -> Estimate | None:
    """How many times as fast a backend is there as a baseline; None where that was not measured."""
    rows = [row for row in summary.rows if row.point == point.name]
    return PointRatios(rows, summary.turns).of(backend, baseline)


def losses(summary: Summary) -> Iterator[str]:
    """A sentence on the best Ray and one on processes: at which measured points threads are shown to be slower."""
    found = results(summary)
    to_ray = [(point, best[0]) for point, cell in found if (best := cell.best_ray)]
    to_processes = [(point, one) for point, _ in found if (one := ratio(summary, point, PROCESSES))]
    for rival, known in (("the best Ray", to_ray), ("processes", to_processes)):
        lost = [f"{point.workload} {point.label}" for point, one in known if standing(one, summary.floor) == SLOWER]
        where = f": {'; '.join(lost)}" if lost else ""
        if known:
            yield f"Threads are slower than {rival} at {len(lost)} of {quantity.counted(len(known), 'point')}{where}."


def tables(summary: Summary) -> Iterator[TextTable]:
    """By workload and environment, by object size, and what both cost in memory and start-up."""
    found = results(summary)
    sizes = [(point, cell) for point, cell in found if point.workload == _BY_SIZE]
    others = [(point, cell) for point, cell in found if point.workload != _BY_SIZE]
    yield _speeds("By workload and environment", summary, others, *LOCKSTEPS)
    yield _speeds("By object size: the overhead of a round", summary, sizes, COPIES)
    yield _costs(found)


def _speeds(title: str, summary: Summary, found: Sequence[tuple[PointSummary, Cell]], *ceilings: str) -> TextTable:
    """A ceiling that was not measured at any point has no column."""
    known = [name for name in ceilings if any(ratio(summary, point, name) for point, _ in found)]
    columns = ("workload", "point", "threads", "processes", "threads over processes")
    rows = []
    for point, own in found:
        ray, cells = own.best_ray, [own, point.cell(PROCESSES)]
        unit = "" if COPIES in ceilings else f"; {point.units[point.metric]}"
        values = (point.shown(cell, point.metric) for cell in cells)
        ratios = [ratio(summary, point, name) for name in (PROCESSES, *known)]
        ratios.append(ratio(summary, point, _LOOP, _LOOP_WITHOUT_GIL))
        *others, interpreters = (quantity.ratio(one) if one else NOTHING for one in ratios)
        best = f"{quantity.ratio(ray[0])} ({ray[1]})" if ray else NOTHING
        starts = quantity.from_to(cell.main.count for cell in cells if cell is not None and cell.main is not None)
        rows.append((point.workload, f"{point.label}{unit}", *values, *others, best, interpreters, starts))
    heads = [*(f"threads over {name}" for name in known), "threads over best Ray", f"{_LOOP_WITHOUT_GIL} over {_LOOP}"]
    return TextTable(title, (*columns, *heads, "starts"), tuple(rows))


def _costs(found: Iterable[tuple[PointSummary, Cell]]) -> TextTable:
    names = ("threads", "processes", "best Ray")
    rows = []
    for point, own in found:
        ray, workers = own.best_ray, point.parameters.get("actors") or point.parameters.get("agents") or 1
        cells = [own, point.cell(PROCESSES), point.cell(ray[1]) if ray else None]
        memory = (point.shown(cell, "peak_rss", 1 / workers) for cell in cells)
        startup = (point.shown(cell, "startup_time") for cell in cells)
        rows.append((point.workload, point.label, *memory, *startup))
    heads = [f"{what}, {name}" for what in ("memory per worker", "start-up") for name in names]
    return TextTable("Memory and start-up", ("workload", "point", *heads), tuple(rows))

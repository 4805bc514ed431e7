"""The figure of actor systems: reactors and each system over the plain loop, point by point."""

from collections import Counter

from harness import quantity
from harness.report.figures import figure_points as shared
from harness.report.summary import LOOP, RAY, Cell, Summary
from harness.stats.intervals import Estimate
from harness.stats.reference_ceiling import is_limit
from plots.chart import BarPanel, Chart, Scale
from workloads.catalogue import BACKENDS


def actor_systems(summary: Summary, *, everything: bool) -> Chart | None:
    """Bars of all backends but the ceiling; None where no system but Ray was measured."""
    systems = {name for name, backend in BACKENDS.items() if "system" in backend.options and not name.startswith(RAY)}
    panels, first = [], Counter[str]()
    for point in summary.points:
        names = [cell.backend for cell in point.cells if everything or not is_limit(cell.backend)]
        values = shared.values_at(point, [name for name in names if name != LOOP], _over_loop)
        if systems & values.keys():
            bars = shared.bars(values, quantity.times, most_first=True)
            panels.append(BarPanel(shared.title(point), Scale("times the loop"), bars, 1.0))
            first[bars[0].series] += 1
    if not panels:
        return None
    led = f"reactors are the fastest at {first[summary.ours]} of {quantity.counted(len(panels), 'point')}"
    return shared.chart(
        f"{shared.on_cores(summary)}, {led}",
        "Speed over the plain loop, whose speed is the line. Whether two bars differ is in the report.",
        panels,
        "Every system is given shares of the work, one per core, of which the driver holds the first.",
    )


def _over_loop(cell: Cell) -> Estimate | None:
    return cell.speedups.get(LOOP)

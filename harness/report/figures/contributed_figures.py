"""The figure of contributions: speed-up over the loop by cores, a panel for each environment."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness import quantity
from harness.grouping import grouped
from harness.report.contributed import ContributedPoint
from harness.report.figures import figure_points as shared
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.store.contribution import OURS
from plots import page, style
from plots.chart import BarPanel, Chart, LinePanel, Points, Scale

_SPEED_UP = "speed-up over the loop (x)"


def draw(found: Sequence[ContributedPoint], directory: Path) -> Path | None:
    """Draw the figure into a directory; None where there is nothing to draw. Raises OSError."""
    chart = speed_up(found)
    return style.save(page.render(chart), directory / "speed_up.svg") if chart else None


def speed_up(found: Sequence[ContributedPoint]) -> Chart | None:
    """The figure of machines that had the cores they were given; None without one."""
    shown = [one for one in found if one.ours and not one.file.oversubscribed]
    if not shown:
        return None
    panels = tuple(_panel(name, own) for name, own in sorted(grouped(shown, lambda one: one.environment).items()))
    where = quantity.from_to(one.file.cores for one in shown)
    where += " core" if where == "1" else " cores"
    rays = [one.ray[0] for one in shown if one.ray]
    other = f", the best supported Ray at {shared.span(rays)}" if rays else ""
    notes = [
        shared.starts_note(one.ours[0] for one in shown if one.ours),
        "Several machines with one number of cores are shown by their geometric mean.",
    ]
    for doubt, own in sorted(
        grouped(((told, one) for one in shown for told in one.doubts), lambda pair: pair[0]).items()
    ):
        where_seen = sorted({one.file.cores for _, one in own})
        notes.append(f"{doubt[0].upper()}{doubt[1:]}: on {', '.join(map(str, where_seen))} cores.")
    ours = shared.span([one.ours[0] for one in shown if one.ours])
    return Chart(
        f"On {where}, reactors run at {ours} the loop's speed{other}",
        "Hollow: the prediction for reactors, made before the run.",
        panels,
        tuple(notes),
    )


def _panel(name: str, own: Sequence[ContributedPoint]) -> LinePanel | BarPanel:
    """Curves over the number of cores, or bars where all machines have as many."""
    ahead = ((one.file.cores, Estimate(one.ahead, one.ahead, one.ahead, 1)) for one in own if one.ahead)
    curves = {
        OURS: _curve((one.file.cores, one.ours[0]) for one in own if one.ours),
        "best-ray": _curve((one.file.cores, one.ray[0]) for one in own if one.ray),
        "best-ray-compiled": _curve((one.file.cores, one.compiled[0]) for one in own if one.compiled),
        "lockstep": _curve((one.file.cores, one.ceiling[0]) for one in own if one.ceiling),
        "predicted_first": _curve(ahead),
    }
    known = {series: points for series, points in curves.items() if points}
    if len({one.file.cores for one in own}) == 1:
        values = {series: next(iter(points.values())) for series, points in known.items()}
        shown = shared.bars(values, quantity.times, most_first=True)
        return BarPanel(name, Scale(_SPEED_UP), shown, line=1.0)
    y = Scale(_SPEED_UP, log=True)
    return LinePanel(name, Scale("cores", quantity.count), y, known, (1.0,))


def _curve(values: Iterable[tuple[int, Estimate]]) -> Points:
    by_cores = grouped(values, lambda pair: pair[0])
    return {
        float(cores): own[0][1] if len(own) == 1 else intervals.mean([one.value for _, one in own])
        for cores, own in by_cores.items()
    }

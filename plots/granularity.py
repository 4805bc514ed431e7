"""Speed-up over Ray against the environment steps that one message asks for: where Ray's cost amortises."""

from operator import itemgetter

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from harness.stats.moderated import moderated, nested
from plots import lines, notes, page, rows, sampling, style
from plots.errors import FigureError

_BASE = "ray-paper"


def speed_up(measurements: pd.DataFrame) -> Figure:
    """Throughput divided by that of `ray-paper`, by steps per message. Raises FigureError."""
    found = sampling.selections(measurements, ["env", "steps_per_message"])
    drawn = {name: panels for name, selection in found.items() if (panels := _panels(selection, name))}
    selections = [found[name] for name in drawn]
    panels = [panel for panels in drawn.values() for panel in panels]
    if not panels:
        raise FigureError(
            f"no sweep of steps_per_message with the backend {_BASE}; "
            "expected two or more values, as from --set steps_per_message=1,10,100"
        )
    figure, axes, across = page.panels(
        "Speed-up over Ray, by steps per message",
        notes.fixed(*selections),
        [
            f"Throughput as a ratio to {_BASE} with the same number of steps per message, paired by trial.",
            *notes.below(*selections),
        ],
        len(panels),
        2.9,
    )
    for one, panel in zip(axes, panels, strict=True):
        lines.draw(one, panel, "environment steps per message", quantity.tick, "speed-up over Ray (×)")
        one.axhline(1.0, color=style.FAINT, linewidth=1.0, zorder=1)
    lines.legend(axes[across - 1], axes)
    return figure


def _panels(selection: rows.Selection, name: str) -> list[lines.Panel]:
    trials = selection.trials("scenario", "steps_per_message", "backend")
    panels = []
    for scenario in selection.distinct("scenario"):
        found: dict[tuple[str, float], intervals.Estimate] = {}
        for (where, steps, backend), values in trials.items():
            base = trials.get((where, steps, _BASE), {})
            if where == scenario and backend != _BASE and base.keys() & values.keys():
                found[backend, float(steps)] = intervals.ratio(values, base)
        curves = nested(moderated(found, itemgetter(1)))
        if any(len(points) > 1 for points in curves.values()):
            panels.append(lines.Panel(curves, title=f"{name}: {scenario}"))
    return panels

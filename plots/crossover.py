"""From where on Ray is as good: the lead of reactors by what a step takes, what it sends, and steps per message.

Of environments that are made up, so that one of the three varies and the others stand still.
"""

import re
from collections.abc import Callable
from itertools import groupby
from math import prod
from operator import itemgetter

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from harness.stats.moderated import moderated, nested
from plots import lines, notes, page, rows, style
from plots.errors import FigureError

_OURS = "reactor-processes"
_RAYS = ("ray-pooled", "ray-tuned", "ray-paper")
# A made-up environment: what a step takes, and the shape of an observation, of a byte each.
_MADE_UP = re.compile(r"busy:(\d+(?:\.\d+)?)(ns|us|ms|s)(?::(\d+(?:x\d+)*))?")
_BYTES = "4"
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
# Within this they are as good as each other.
_AS_GOOD = 1.1
_EDGES = (_AS_GOOD, 1 / _AS_GOOD)

# Step time in ns, bytes of an observation, steps per message.
_Place = tuple[int, int, int]
_AXES: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("time of a step", quantity.duration_tick),
    ("size of an observation", quantity.size),
    ("steps per message", quantity.tick),
)


def speed_up(measurements: pd.DataFrame) -> Figure:
    """Throughput of reactors as a ratio to Ray's backends, a panel for each of the three. Raises FigureError."""
    selection = rows.select(measurements, "gym_sampling", "throughput", ["env", "steps_per_message"])
    ratios = _ratios(selection)
    panels = [(axis, panel) for axis in range(len(_AXES)) if (panel := _panel(ratios, axis))]
    if not panels:
        raise FigureError(
            f"no two environments busy:... that differ in one thing, with {_OURS} and {' or '.join(_RAYS)}; "
            "expected them as from `harness run --preset crossover`"
        )
    figure, axes, across = page.panels(
        "From where on Ray is as good",
        notes.fixed(selection),
        [
            (
                f"Throughput of {_OURS} as a ratio to Ray's with equal parameters, paired by trial, on environments "
                "that compute for a given time and return given bytes. Between the dashed lines they are within 10 %."
            ),
            _from_where(panels),
            *notes.below(selection),
        ],
        len(panels),
        2.9,
    )
    for one, (axis, panel) in zip(axes, panels, strict=True):
        label, text = _AXES[axis]
        lines.draw(one, panel, label, text, "speed-up over Ray (×)")
        one.axhline(1.0, color=style.FAINT, linewidth=1.0, zorder=1)
        for edge in _EDGES:
            one.axhline(edge, color=style.FAINT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    lines.legend(axes[across - 1], axes)
    return figure


def _ratios(selection: rows.Selection) -> dict[_Place, dict[str, intervals.Estimate]]:
    """Of each made-up environment and number of steps, our speed against each of Ray's backends."""
    found: dict[tuple[_Place, str], intervals.Estimate] = {}
    trials = selection.trials("env", "steps_per_message", "backend")
    for (env, steps, backend), theirs in trials.items():
        ours = trials.get((env, steps, _OURS), {})
        made_up = _MADE_UP.fullmatch(env)
        if made_up is not None and backend in _RAYS and ours.keys() & theirs.keys():
            step_ns = round(float(made_up[1]) * _NS[made_up[2]])
            nbytes = prod(map(int, (made_up[3] or _BYTES).split("x")))
            if step_ns:  # a logarithmic axis has no place for nothing
                found[(step_ns, nbytes, steps), backend] = intervals.ratio(ours, theirs)
    return nested(moderated(found, itemgetter(0)))


def _from_where(panels: list[tuple[int, lines.Panel]]) -> str:
    """In words, from which value of each axis on the best of Ray's backends is as good."""
    told = []
    for axis, panel in panels:
        best = {x: min(points[x].value for points in panel.measured.values() if x in points) for x in panel.xs}
        reached = [x for x in panel.xs if all(best[later] <= _AS_GOOD for later in panel.xs if later >= x)]
        label, text = _AXES[axis]
        told.append(f"{label} {f'of {text(reached[0])}' if reached else f'up to {text(panel.xs[-1])}: nowhere'}")
    return f"The best Ray is within 10 % from these values on: {'; '.join(told)}."


def _panel(ratios: dict[_Place, dict[str, intervals.Estimate]], axis: int) -> lines.Panel | None:
    """The longest row of places that differ along one axis only; None without two."""

    def others(place: _Place) -> tuple[int, ...]:
        return place[:axis] + place[axis + 1 :]

    groups = [list(group) for _, group in groupby(sorted(ratios, key=others), key=others)]
    longest = max(groups, key=len, default=[])
    if len(longest) < 2:
        return None
    curves: dict[str, dict[float, intervals.Estimate]] = {}
    for place in longest:
        for backend, ratio in ratios[place].items():
            curves.setdefault(backend, {})[float(place[axis])] = ratio
    words = (f"{quantity.duration_tick(longest[0][0])} a step", f"{quantity.size(longest[0][1])} an observation",
             f"{quantity.counted(longest[0][2], 'step')} a message")  # fmt: skip
    return lines.Panel(curves, title=", ".join(word for at, word in enumerate(words) if at != axis), levels=_EDGES)

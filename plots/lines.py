"""Curves over a parameter: measured ones solid with intervals, published ones dashed and hollow."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness import quantity
from harness.stats.intervals import Estimate
from plots import page, style
from plots.published import Series

_TITLE_CHARACTERS = 26  # beside a second panel and a legend
_TOGETHER, _BETWEEN = 0.03, 0.3  # in which all backends of a value stand: of the axis, and of what is between values

Points = Mapping[float, Estimate]
Text = Callable[[float], str]


@dataclass(frozen=True)
class Panel:
    """The curves that share one pair of axes: measured ones by backend, published ones by series."""

    measured: Mapping[str, Points]
    published: Sequence[tuple[Series, Points]] = ()
    title: str = ""
    levels: Sequence[float] = ()  # values that the vertical axis has to show, whatever was measured

    @property
    def xs(self) -> list[float]:
        """All values on the horizontal axis."""
        return sorted({x for points in self._curves() for x in points})

    @property
    def extent(self) -> list[float]:
        """All values on the vertical axis, its levels and the ends of intervals included."""
        measured = (one for points in self._curves() for one in points.values())
        return [*self.levels, *(end for one in measured for end in (one.low, one.high))]

    def _curves(self) -> list[Points]:
        return [*self.measured.values(), *(points for _, points in self.published)]


def draw(
    axes: Axes,
    panel: Panel,
    x_label: str,
    x_text: Text,
    y_label: str,
    y_text: Text = quantity.tick,
) -> None:
    """One panel over a logarithmic axis that names the measured values."""
    curves(axes, panel, _beside(panel))
    # Levels that lie near each other can be told apart on a logarithmic axis alone.
    page.scale(axes, "y", panel.extent, y_text, decided_by=(1.0, math.inf) if panel.levels else ())
    page.named_ticks(axes, panel.xs, x_text)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)


def curves(axes: Axes, panel: Panel, factors: Mapping[str, float] = MappingProxyType({})) -> None:
    """The curves and the title of a panel, without scales; `factors` move those of some backends along the axis."""
    for backend in style.ordered(panel.measured):
        look = style.look(backend)
        marked(
            axes,
            panel.measured[backend],
            factors.get(backend, 1.0),
            label=look.label,
            color=look.color,
            marker=look.marker,
            markersize=5.5,
            linewidth=1.6,
            capsize=3,
            zorder=3,
        )
    for series, points in panel.published:
        look = style.published_look(series.system)
        marked(
            axes,
            points,
            label=series.label,
            color=look.color,
            marker=look.marker,
            markerfacecolor="white",
            markersize=5.5,
            linewidth=1.0,
            linestyle=(0, (4, 3)),
            capsize=2,
            zorder=2,
        )
    if panel.title:
        axes.set_title(textwrap.fill(panel.title, _TITLE_CHARACTERS), loc="left")


def _beside(panel: Panel) -> dict[str, float]:
    """By which factor each backend is moved, so that their whiskers at one value stand beside each other."""
    backends = style.ordered(panel.measured)
    logs = [math.log(x) for x in panel.xs]
    closest = min((above - below for below, above in pairwise(logs)), default=0.0)
    apart = min(_TOGETHER * (logs[-1] - logs[0]), _BETWEEN * closest) / len(backends)
    return {name: math.exp((place - (len(backends) - 1) / 2) * apart) for place, name in enumerate(backends)}


def legend(beside: Axes, panels: Sequence[Axes]) -> None:
    """One legend for all panels to the right of `beside`, each name once, without the whiskers."""
    found = handles(panels)
    drawn = [container[0] for container in found.values()]
    beside.legend(drawn, list(found), loc="upper left", bbox_to_anchor=(1.01, 1.03))


def handles(panels: Sequence[Axes]) -> dict[str, Any]:
    """What the panels show, by its name, each once."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def single(
    title: str,
    subtitle: str,
    notes: Sequence[str],
    panel: Panel,
    x_label: str,
    x_text: Text,
    y_label: str,
    y_text: Text = quantity.tick,
    height: float = 3.7,
) -> Figure:
    """A figure of one panel, `height` inches high, and its legend."""
    figure, (axes,) = page.page(title, subtitle, notes, height)
    draw(axes, panel, x_label, x_text, y_label, y_text)
    legend(axes, [axes])
    return figure


def whiskers(estimates: Sequence[Estimate]) -> tuple[list[float], list[float]]:
    """Distances from the value to both ends, as matplotlib's error bars want them."""
    return [one.value - one.low for one in estimates], [one.high - one.value for one in estimates]


def marked(axes: Axes, points: Points, factor: float = 1.0, **look: Any) -> None:
    """The values with their whiskers, in the order of the axis, along which `factor` moves them."""
    xs = sorted(points)
    estimates = [points[x] for x in xs]
    axes.errorbar([x * factor for x in xs], [one.value for one in estimates], yerr=whiskers(estimates), **look)

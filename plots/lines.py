"""A panel of curves, each labelled at its end."""

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from harness import quantity
from harness.stats.intervals import Estimate
from plots import style
from plots.chart import LinePanel, Points, Scale

HEIGHT = 2.7  # inches
_CHARACTER = 0.075  # the width of a character in a tick's label, in inches
_WIDE_RANGE = 20.0  # from this ratio on, small values are indistinguishable on a linear axis
_APART = 0.088  # the distance of two labels of curves, as a part of the axis
_REACH = 3.0  # an axis reaches at most this many times beyond the values, to show intervals
_SHADE_ENDS = 1.02


def draw(axes: Axes, panel: LinePanel) -> None:
    """Draw a panel."""
    estimates = [one for points in panel.curves.values() for one in points.values()]
    xs = sorted({x for points in panel.curves.values() for x in points})
    _scale_y(axes, panel.y, [*panel.levels, *_extent(estimates)])
    _scale_x(axes, panel.x, xs)
    axes.set_xlabel(panel.x.label)
    axes.set_ylabel(panel.y.label)
    for level in panel.levels:
        axes.axhline(level, color=style.FAINT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    if panel.measured_until is not None and panel.measured_until < xs[-1]:
        axes.axvspan(panel.measured_until * _SHADE_ENDS, axes.get_xlim()[1], color=style.SHADE, zorder=0)
    for name in style.ordered(panel.curves):
        _curve(axes, name, panel.curves[name], panel.y.most, joined=name not in panel.unjoined)
    _label_ends(axes, panel)


def _curve(axes: Axes, name: str, points: Points, most: float, *, joined: bool) -> None:
    look, xs = style.look(name), sorted(points)
    cut = {x: points[x] for x in xs if points[x].value > most}
    values = [min(points[x].value, most) for x in xs]
    axes.plot(
        xs, values, label=look.label, color=look.color, marker=look.marker, markersize=5.5,
        markerfacecolor="white" if look.hollow else look.color, linewidth=1.1 if look.hollow else 1.7,
        linestyle="none" if not joined else (0, (4, 3)) if look.hollow else "-", zorder=2 if look.hollow else 3,
        clip_on=not cut,
    )  # fmt: skip
    for x, one in cut.items():
        axes.annotate(f"{one.value:.3g}", (x, most), xytext=(0, 5), textcoords="offset points", ha="center",
                      fontsize=8, color=look.color)  # fmt: skip
    sure = [x for x in xs if points[x].decides and x not in cut]
    if sure:
        whiskers = [[points[x].value - points[x].low for x in sure], [points[x].high - points[x].value for x in sure]]
        axes.errorbar(sure, [points[x].value for x in sure], yerr=whiskers, fmt="none", ecolor=look.color, capsize=3)


def _extent(estimates: Sequence[Estimate]) -> Iterator[float]:
    """The extent of the vertical axis: all values, and as much of their intervals as leaves the values apart."""
    values = [one.value for one in estimates]
    low, high = min(values) / _REACH, max(values) * _REACH
    yield from values
    for one in estimates:
        if one.decides:
            yield from (min(max(end, low), high) for end in (one.low, one.high))


def _scale_y(axes: Axes, scale: Scale, values: Sequence[float]) -> None:
    low, high = min(values), min(max(values), scale.most)
    log = low > 0 and high > _WIDE_RANGE * low if scale.log is None else scale.log
    if log:
        low, high = low / 1.25, high * 1.25
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(FixedLocator(quantity.ticks(low, high, 6)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        room = 0.08 * (max(high, 0.0) - min(low, 0.0) or 1.0)
        low, high = (low - room if low < 0 else 0.0), high + (0.0 if high == scale.most else room)
        axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))


def _scale_x(axes: Axes, scale: Scale, xs: Sequence[float]) -> None:
    """A linear axis from zero, or a logarithmic one that marks the measured values and names those that have room."""
    if scale.log is False:
        axes.set_xlim(0, 1.03 * xs[-1])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))
        return
    pad = (xs[-1] / xs[0]) ** 0.06 if len(xs) > 1 else 1.5
    axes.set(xscale="log", xlim=(xs[0] / pad, xs[-1] * pad))
    axes.xaxis.set_major_locator(FixedLocator(xs))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: scale.text(x) if x in _named(axes, scale, xs) else ""))


def _named(axes: Axes, scale: Scale, xs: Sequence[float]) -> list[float]:
    """The values whose labels have room on the axis as it is: its ends, and what fits between them."""
    low, high = axes.get_xlim()
    half = math.log(high / low) * axes.figure.dpi * _CHARACTER / axes.bbox.width / 2
    named: dict[float, float] = {}
    for x in (xs[0], xs[-1], *xs[1:-1]):
        room = half * (max(map(len, scale.text(x).split("\n"))) + 1)
        if all(abs(math.log(x / other)) >= room + taken for other, taken in named.items()):
            named[x] = room
    return list(named)


def _label_ends(axes: Axes, panel: LinePanel) -> None:
    """The name of each curve right of the panel, as near to the curve's end as the other names leave room."""
    to_axes = axes.transScale + axes.transLimits
    ends = []
    for name, points in panel.curves.items():
        x = max(points)
        place = to_axes.transform((x, min(points[x].value, panel.y.most)))
        ends.append((float(place[1]), float(place[0]), style.look(name)))
    ends.sort(key=lambda end: end[:2])
    heights: list[float] = []
    for height, _, _ in ends:
        heights.append(max(height, heights[-1] + _APART) if heights else max(0.0, height))
    limit = 1.0
    for at in reversed(range(len(heights))):  # back down, where the topmost would leave the panel
        heights[at] = min(heights[at], limit)
        limit = heights[at] - _APART
    for (height, x, look), label_height in zip(ends, heights, strict=True):
        axes.annotate(
            look.label, (x, height), xytext=(1.05, label_height), xycoords="axes fraction", textcoords="axes fraction",
            va="center", fontsize=8.5, color=style.readable(look.color), annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": look.color, "linewidth": 0.6, "shrinkA": 2, "shrinkB": 4,
                        "relpos": (0, 0.5)},
        )  # fmt: skip

"""One dot per backend and panel, with interval and value: for categories whose values span decades.

Bars would need a zero that a logarithmic axis doesn't have. Published values are hollow, on a hatched band of
their own.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness import quantity
from harness.stats.intervals import Estimate
from plots import lanes, page, style
from plots.lines import whiskers
from plots.published import Series

Reference = tuple[Series, Estimate]

_ROW = 0.27  # inches
_MOST_COLUMNS = 3
_TITLE_CHARACTERS = 60
_TICK_CHARACTERS = 54


@dataclass(frozen=True)
class Panel:
    """One category: measured intervals by backend, published values by series."""

    title: str
    measured: Mapping[str, Estimate]
    published: Sequence[Reference] = ()


def draw(
    panels: Sequence[Panel],
    title: str,
    subtitle: str,
    notes: Sequence[str],
    unit: str,
    text: Callable[[float], str] = quantity.compact,
    tick: Callable[[float], str] = quantity.tick,
    limit: float | None = None,
    *,
    linear: bool = False,
) -> Figure:
    """Panels with a common axis, side by side where they have common rows; `limit` draws a vertical line. `linear`: the
    axis begins at 0, however much the values differ.
    """
    labels = [{*panel.measured, *(series.label for series, _ in panel.published)} for panel in panels]
    rows = lanes.rows(labels, _MOST_COLUMNS)
    figure, axes = page.laned(title, subtitle, notes, rows, 0.85, _ROW)
    values = [value for panel in panels for value in _extent(panel)] + ([] if limit is None else [limit])
    across = max(len(row.panels) for row in rows)
    for row, beside in zip(rows, axes, strict=True):
        own = [panels[number] for number in row.panels]
        backends = style.ordered(name for panel in own for name in panel.measured)
        systems = sorted({series.label for panel in own for series, _ in panel.published})
        for one, panel in zip(beside, own, strict=True):
            decided_by = (1.0,) if linear else ()
            page.scale(one, "x", values, tick, most=_tick_count(values, tick, across), pad=1.6, decided_by=decided_by)
            _lanes(one, backends, systems, first=one is beside[0])
            _dots(one, panel, backends, systems, text)
            if limit is not None:
                one.axvline(limit, color=style.FAINT, linewidth=1.2, linestyle=(0, (1, 1)), zorder=1)
            lines = (textwrap.fill(line, _TITLE_CHARACTERS // across) for line in panel.title.splitlines())
            one.set_title("\n".join(lines), loc="left")
            one.set_xlabel(unit)
    return figure


def _extent(panel: Panel) -> list[float]:
    intervals = [*panel.measured.values(), *(interval for _, interval in panel.published)]
    return [value for one in intervals for value in (one.low, one.high)]


def _tick_count(values: Sequence[float], tick: Callable[[float], str], columns: int) -> int:
    longest = max(len(tick(float(f"{value:.1g}"))) for value in (min(values), max(values)))
    return max(2, min(8, _TICK_CHARACTERS // columns // (longest + 2)))


def _lanes(axes: Axes, backends: Sequence[str], systems: Sequence[str], first: bool) -> None:
    labels = [*(style.look(name).label for name in backends), *systems]
    page.lanes(axes, [label if first else "" for label in labels])
    axes.spines["left"].set_visible(False)
    if systems:
        axes.axhspan(
            len(backends) - 0.5,
            len(labels) - 0.5,
            facecolor=style.SHADE,
            edgecolor="#d0d0d0",
            hatch="////",
            linewidth=0,
            zorder=0,
        )


def _dots(
    axes: Axes, panel: Panel, backends: Sequence[str], systems: Sequence[str], text: Callable[[float], str]
) -> None:
    for backend, interval in panel.measured.items():
        look = style.look(backend)
        _dot(axes, backends.index(backend), interval, look, look.color, text)
    for series, interval in panel.published:
        lane = len(backends) + systems.index(series.label)
        _dot(axes, lane, interval, style.published_look(series.system), "white", text)


def _dot(axes: Axes, lane: int, interval: Estimate, look: style.Look, fill: str, text: Callable[[float], str]) -> None:
    left, right = whiskers([interval])
    axes.errorbar(
        [interval.value],
        [lane],
        xerr=(left, right),
        color=look.color,
        marker=look.marker,
        markerfacecolor=fill,
        markersize=7,
        capsize=3,
        linewidth=1.4,
        zorder=3,
    )
    inward = axes.transLimits.transform(axes.transScale.transform((interval.value, lane)))[0] > 0.5
    axes.annotate(
        text(interval.value),
        (interval.low if inward else interval.high, lane),
        xytext=(-7 if inward else 7, 0),
        textcoords="offset points",
        ha="right" if inward else "left",
        va="center",
        fontsize=8.5,
        bbox={"facecolor": style.SHADE if fill == "white" else "white", "edgecolor": "none", "pad": 1.0},
        zorder=2,
    )

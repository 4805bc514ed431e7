"""The frame around every figure: title, what was held fixed, panels, notes below. Owns sizes and scales, no
data.
"""

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from harness import quantity
from plots import style
from plots.lanes import Row

_MARGIN = 0.14  # inches
_GAP = 0.06
_TITLE = 0.26
_LINE = 0.17
_NOTE_CHARACTERS = 120
_BESIDE = 2  # panels, at most
_CHARACTER = 0.016  # of an axis as wide as the page: what a character of a label takes
_WIDE_RANGE = 20.0  # from this ratio on, small values can't be told apart on a linear axis


def page(
    title: str,
    subtitle: str,
    notes: Sequence[str],
    body: float,
    rows: int = 1,
    columns: int = 1,
    legend: float = 0.0,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure of the common width with `rows` x `columns` axes, `body` inches high, in reading order.

    `legend`: inches kept free above the panels for `legend()`. `heights`: of the rows, in inches, where they differ.
    """
    subtitle_lines = textwrap.wrap(subtitle, _NOTE_CHARACTERS)
    note_lines = [line for note in notes for line in textwrap.wrap(note, _NOTE_CHARACTERS)]
    header = _MARGIN + _TITLE + _LINE * len(subtitle_lines) + _MARGIN + legend
    footer = _MARGIN + _LINE * len(note_lines)
    height = header + body + footer
    figure = Figure(figsize=(style.WIDTH, height), layout="constrained")
    engine = figure.get_layout_engine()
    if engine is not None:
        edge = _MARGIN / 2 / style.WIDTH
        engine.set(rect=(edge, footer / height, 1 - 2 * edge, body / height), hspace=_GAP, h_pad=_GAP)  # type: ignore[call-arg]
    left = _MARGIN / style.WIDTH
    figure.text(left, 1 - _MARGIN / height, title, fontsize=12, fontweight="bold", va="top")
    below_title = 1 - (_MARGIN + _TITLE) / height
    figure.text(left, below_title, "\n".join(subtitle_lines), fontsize=9, color=style.FAINT, va="top")
    figure.text(left, _MARGIN / 2 / height, "\n".join(note_lines), fontsize=8.5, color=style.FAINT, va="bottom")
    axes = figure.subplots(rows, columns, squeeze=False, height_ratios=heights)
    return figure, [axes[row, column] for row in range(rows) for column in range(columns)]


def panels(
    title: str,
    subtitle: str,
    notes: Sequence[str],
    count: int,
    height: float,
    legend: float = 0.0,
) -> tuple[Figure, list[Axes], int]:
    """A page with so many panels, each `height` inches high: figure, axes, and how many are beside each other."""
    across = min(count, _BESIDE)
    down = -(-count // across)
    figure, axes = page(title, subtitle, notes, down * height, down, across, legend)
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count], across


def laned(
    title: str,
    subtitle: str,
    notes: Sequence[str],
    rows: Sequence[Row],
    head: float,
    lane: float,
) -> tuple[Figure, list[list[Axes]]]:
    """A page with these rows of panels: figure, and the axes of each row. A panel is `head` inches high, and `lane`
    more for each lane of its row.
    """
    heights = [head + lane * len(row.lanes) for row in rows]
    across = max(len(row.panels) for row in rows)
    figure, axes = page(title, subtitle, notes, sum(heights), len(rows), across, heights=heights)
    found = []
    for place, row in enumerate(rows):
        beside = axes[across * place : across * (place + 1)]
        for spare in beside[len(row.panels) :]:
            spare.set_visible(False)
        found.append(beside[: len(row.panels)])
    return figure, found


def lanes(axes: Axes, labels: Sequence[str]) -> None:
    """A lane for each of these labels, the first on top; an empty label where a panel beside this one says it."""
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def legend(figure: Figure, handles: Sequence[Any]) -> None:
    """One legend for all panels, in a line below the subtitle, where `page` has kept room for it."""
    subtitle = figure.texts[1]
    figure.draw_without_rendering()
    bottom = figure.transFigure.inverted().transform(subtitle.get_window_extent())[0][1]
    one = figure.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=(_MARGIN / style.WIDTH, bottom - _GAP / figure.get_figheight()),
        ncols=len(handles),
        borderpad=0.0,
        borderaxespad=0.0,
        handlelength=1.3,
        columnspacing=1.3,
    )
    one.set_in_layout(False)


def scale(
    axes: Axes,
    which: Literal["x", "y"],
    values: Sequence[float],
    text: Callable[[float], str] = quantity.tick,
    *,
    most: int = 7,
    pad: float = 1.25,
    decided_by: Sequence[float] = (),
) -> None:
    """Logarithmic with at most `most` ticks where positive `values` span decades, else linear from zero.

    `pad`: by which factor a logarithmic axis reaches beyond the values. `decided_by`: values that
    decide between the two instead of `values`.
    """
    low, high = min(values), max(values)
    wide = max(decided_by or values) > _WIDE_RANGE * min(decided_by or values)
    if low > 0 and wide:
        low, high = low / pad, high * pad
        axes.set(**{f"{which}scale": "log"})
        axis = _axis(axes, which)
        axis.set_major_locator(FixedLocator(quantity.ticks(low, high, most)))
        axis.set_minor_locator(NullLocator())
    else:
        room = 0.08 * (max(high, 0.0) - min(low, 0.0) or 1.0)
        low, high = (low - room if low < 0 else 0.0), high + room
        _axis(axes, which).set_major_locator(MaxNLocator(most))
    axes.set(**{f"{which}lim": (low, high)})
    _axis(axes, which).set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def named_ticks(axes: Axes, values: Sequence[float], text: Callable[[float], str]) -> None:
    """A logarithmic horizontal axis that marks the measured values, and names those that have room in two lines."""
    marks = sorted(set(values))
    low, high = marks[0], marks[-1]
    pad = (high / low) ** 0.06 if high > low else 1.5
    span = math.log(high / low * pad * pad)
    columns = axes.get_gridspec().ncols  # type: ignore[union-attr]
    width = {mark: (len(text(mark)) + 1) * _CHARACTER * columns * span for mark in marks}
    lines: list[list[float]] = [[low, high], []]
    for mark in marks[1:-1]:
        for line in lines:
            if all(abs(math.log(mark / other)) >= (width[mark] + width[other]) / 2 for other in line):
                line.append(mark)
                break
    upper, lower = lines
    axes.set(xscale="log", xlim=(low / pad, high * pad))
    axes.xaxis.set_major_locator(FixedLocator([mark for mark in marks if mark not in lower]))
    axes.xaxis.set_minor_locator(FixedLocator(lower))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value) if value in upper else ""))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: text(value)))
    axes.xaxis.grid(visible=True, which="minor")


def _axis(axes: Axes, which: Literal["x", "y"]) -> Axis:
    return axes.xaxis if which == "x" else axes.yaxis

"""A chart as a figure: title, fixed parameters, panels from top to bottom, notes below."""

import re
import textwrap

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from plots import bars, lines, style
from plots.chart import BarPanel, Chart

_MARGIN = 0.12  # inches
_GAP = 0.05
_TITLE, _LINE = 0.21, 0.155
_TITLE_CHARACTERS, _CHARACTERS = 56, 82
_PANEL_TITLE_CHARACTERS = 44
_UNITS = "[nµm]?s|[kKMG]i?B|B|%"
_BARS, _BAR = 0.66, 0.235  # inches: a panel of bars, and each bar


def render(chart: Chart) -> Figure:
    """The figure of a chart."""
    with style.applied():
        title = _wrapped(chart.title, _TITLE_CHARACTERS)
        subtitle = _wrapped(chart.subtitle, _CHARACTERS)
        notes = [line for note in chart.notes for line in _wrapped(note, _CHARACTERS)]
        heights = [
            _BARS + _BAR * len(panel.bars) if isinstance(panel, BarPanel) else lines.HEIGHT for panel in chart.panels
        ]
        header = _MARGIN + _TITLE * len(title) + _LINE * len(subtitle) + _GAP
        footer = _MARGIN + _LINE * len(notes)
        height = header + sum(heights) + footer
        edge = _MARGIN / 2 / style.WIDTH
        rect = edge, footer / height, 1 - 2 * edge, sum(heights) / height
        layout = ConstrainedLayoutEngine(rect=rect, hspace=_GAP, h_pad=_GAP)
        figure = Figure(figsize=(style.WIDTH, height), layout=layout)
        _write(figure, title, subtitle, notes)
        axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        for one, panel in zip(axes, chart.panels, strict=True):
            if isinstance(panel, BarPanel):
                bars.draw(one, panel)
            else:
                lines.draw(one, panel)
            wrapped = [part for line in panel.title.split("\n") for part in _wrapped(line, _PANEL_TITLE_CHARACTERS)]
            one.set_title("\n".join(wrapped), loc="left")
    return figure


def _wrapped(text: str, characters: int) -> list[str]:
    """Lines of a text. A number stays with its unit."""
    joined = re.sub(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))", "\N{NO-BREAK SPACE}", text)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(joined, characters)]


def _write(figure: Figure, title: list[str], subtitle: list[str], notes: list[str]) -> None:
    left, height = _MARGIN / style.WIDTH, figure.get_figheight()
    figure.text(left, 1 - _MARGIN / height, "\n".join(title), fontsize=11, fontweight="bold", va="top")
    below = 1 - (_MARGIN + _TITLE * len(title)) / height
    figure.text(left, below, "\n".join(subtitle), fontsize=8.5, color=style.FAINT, va="top")
    figure.text(left, _MARGIN / 2 / height, "\n".join(notes), fontsize=8, color=style.FAINT, va="bottom")

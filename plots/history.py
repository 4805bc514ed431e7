"""A number over commits, a panel for each point of a workload, a line for each backend."""

import math
import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from plots import lines, page, quantity
from plots.errors import FigureError
from plots.intervals import Estimate

COLUMNS = ("run", "commit", "panel", "backend", "value", "low", "high", "count")
_MOST_PANELS = 12
_PANEL_HEIGHT = 2.6
_NAMED_COMMITS = 12
_TITLE_CHARACTERS = 40


def over_commits(rows: pd.DataFrame, metric: str, unit: str, machine: str) -> Figure:
    """The value of each run, in the order of their `run`, with its interval.

    `rows` has the COLUMNS: `run` counts from 0, `commit` is its label. Raises FigureError where there are no rows, or
    too many panels for a page.
    """
    names = list(dict.fromkeys(rows["panel"]))
    if not 1 <= len(names) <= _MOST_PANELS:
        raise FigureError(f"{len(names)} panels; expected 1 to {_MOST_PANELS}: choose workloads")
    title = f"{metric[:1].upper()}{metric[1:].replace('_', ' ')}, commit by commit"
    trials = sorted({int(count) for count in rows["count"]})
    number = f"{trials[0]}" if len(trials) == 1 else f"{trials[0]} to {trials[-1]}"
    note = f"Each point is a run: the mean of {number} trials, with its 95 % interval."
    figure, axes, across = page.panels(title, machine, [note], len(names), _PANEL_HEIGHT)
    ticks = dict(zip(rows["run"], rows["commit"], strict=True))
    for one, name in zip(axes, names, strict=True):
        _panel(one, rows[rows["panel"] == name], name, ticks)
        one.set_ylabel("times as fast" if unit == "x" else unit)
    lines.legend(axes[across - 1], axes)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, name: str, ticks: dict[int, str]) -> None:
    measured = {
        str(backend): {
            float(one["run"]): Estimate(one["value"], one["low"], one["high"], one["count"])
            for one in own.to_dict("records")
        }
        for backend, own in rows.groupby("backend")
    }
    panel = lines.Panel(measured)
    lines.curves(axes, panel)
    page.scale(axes, "y", panel.extent, quantity.tick, most=5)
    axes.set_title(textwrap.fill(name, _TITLE_CHARACTERS), loc="left")
    stride = math.ceil(len(ticks) / _NAMED_COMMITS)
    shown = sorted(ticks)[::-1][::stride][::-1]  # the newest is always named
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([ticks[run] for run in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(min(ticks) - 0.5, max(ticks) + 0.5)
    for label in axes.get_xticklabels():
        label.set(rotation=45, ha="right", rotation_mode="anchor", size=8)

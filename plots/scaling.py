"""Speed-up by number of workers: what the static graph of a program predicts, and what was measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness import quantity
from harness.stats.intervals import Estimate
from plots import lines, notes, page, rows, style
from plots.errors import FigureError

FILE = "scaling.csv"
_NEEDED = ("workload", "scenario", "parameters", "workers", "kind", "trials", "speedup", "low", "high", "status")
# What is predicted, and how it is drawn; a file may be without the paid ones.
_CURVES = {
    "predicted": ("messages free", (0, (1, 1.2))),
    "predicted_paid": ("messages paid", "-"),
}
_HERE, _MEASURED = "predicted_here", "measured"
_HERE_LABEL = "on these cores"
_KINDS = (*_CURVES, _HERE, _MEASURED)
_BACKEND = "reactor-processes"
_LEGEND = 0.24
# How many times as far as the values an axis reaches for the sake of intervals; a whisker may leave the panel.
_REACH = 3.0
_NAMED = ("actors", "agents", "object_bytes", "steps_per_message")  # what a panel's title has room for


@dataclass(frozen=True)
class _Point:
    """The curves of one point, by kind and number of workers."""

    workload: str
    scenario: str
    setting: Mapping[str, Any]
    curves: Mapping[str, lines.Points]


def speed_up(scaled: pd.DataFrame) -> Figure:
    """Predicted and measured speed-up by workers, a panel per workload, from the rows of `scaling.csv`.

    Of a workload with several points the one with the most numbers, then actors, is shown. Raises FigureError.
    """
    points, omitted = _chosen(list(_points(scaled)))
    figure, axes, across = page.panels(
        "Predicted and measured scaling with workers",
        "Grey: the speed-up over one worker that the program's graph allows, predicted for a core for each worker.",
        [
            "Predicted from what each reaction took in a traced run on one worker. Measured: over the serial loop.",
            *_words(points, omitted),
        ],
        len(points),
        2.35,
        legend=_LEGEND,
    )
    for index, (one, point) in enumerate(zip(axes, points, strict=True)):
        _panel(one, point, first=index % across == 0)
    page.legend(figure, _handles(axes))
    return figure


def _points(scaled: pd.DataFrame) -> Iterator[_Point]:
    missing = [name for name in _NEEDED if name not in scaled.columns]
    if missing:
        raise FigureError(f"{FILE}: column {missing[0]!r} is missing; expected {', '.join(_NEEDED)}")
    done = scaled[(scaled["status"] == "ok") & scaled["kind"].isin(_KINDS)]
    for (workload, scenario, parameters), own in done.groupby(["workload", "scenario", "parameters"], sort=True):
        curves: dict[str, dict[float, Estimate]] = {}
        for record in own.to_dict("records"):
            count = int(rows.number("workers", record["workers"]))
            curves.setdefault(str(record["kind"]), {})[count] = _estimate(record)
        ordered = {kind: dict(sorted(curve.items())) for kind, curve in curves.items()}
        yield _Point(str(workload), str(scenario), rows.setting_of({"parameters": parameters}), ordered)


def _estimate(record: Mapping[Any, Any]) -> Estimate:
    value, low, high = (rows.number(name, record[name]) for name in ("speedup", "low", "high"))
    if not 0 < low <= value <= high < float("inf"):
        raise FigureError(f"{FILE}: a speed-up of {value:g} between {low:g} and {high:g}; expected positive, in order")
    return Estimate(value, low, high, int(rows.number("trials", record["trials"])))


def _chosen(points: list[_Point]) -> tuple[list[_Point], int]:
    """One point of each workload, and how many there are besides."""
    if not points:
        raise FigureError(f"{FILE}: no point has a speed-up")
    best: dict[str, _Point] = {}
    for point in points:
        best[point.workload] = max(best.get(point.workload, point), point, key=_rank)
    return [best[workload] for workload in sorted(best)], len(points) - len(best)


def _rank(point: _Point) -> tuple[Any, ...]:
    numbers = sum(len(curve) for curve in point.curves.values())
    return len(point.curves), numbers, rows.preference(point.setting), point.scenario, sorted(point.setting.items())


def _words(points: list[_Point], omitted: int) -> Iterator[str]:
    if any(kind in point.curves for point in points for kind in ("predicted_paid", _HERE)):
        yield "Messages paid: as one between two workers cost on this machine. These cores: as many as there were."
    counts = {one.count for point in points for curve in point.curves.values() for one in curve.values()}
    yield notes.trials(counts, "Each value is of")
    if omitted:
        yield f"Not shown: {omitted} other {'point' if omitted == 1 else 'points'} of {FILE}."


def _panel(axes: Axes, point: _Point, first: bool) -> None:
    here, measured = (point.curves.get(kind, {}) for kind in (_HERE, _MEASURED))
    look = style.look(_BACKEND)
    for kind, (label, dashes) in _CURVES.items():
        if curve := point.curves.get(kind):
            values = [one.value for one in curve.values()]
            axes.plot(list(curve), values, color=style.FAINT, linewidth=1.6, linestyle=dashes, label=label, zorder=2)
    if here:
        axes.plot(
            list(here),
            [one.value for one in here.values()],
            color=style.FAINT,
            marker="o",
            markerfacecolor="none",
            markersize=8,
            linestyle="none",
            label=_HERE_LABEL,
            zorder=2,
        )
    if measured:
        lines.marked(
            axes,
            measured,
            label=f"measured: {look.label}",
            color=look.color,
            marker=look.marker,
            linestyle="none",
            markersize=6,
            capsize=3,
            zorder=3,
        )
    axes.axhline(1.0, color=style.INK, linewidth=0.9, linestyle=(0, (4, 3)), label="serial loop", zorder=1)
    page.scale(axes, "y", _extent([one for curve in point.curves.values() for one in curve.values()]), most=5)
    page.named_ticks(axes, sorted({count for curve in point.curves.values() for count in curve}), quantity.count)
    axes.set_xlabel("workers")
    if first:
        axes.set_ylabel("speed-up (×)")
    named = {name: point.setting[name] for name in _NAMED if name in point.setting}
    title = f"{point.workload.replace('_', ' ')}: {point.scenario}\n{quantity.sentence(named)}"
    axes.set_title(title, loc="left", fontsize=9)


def _extent(estimates: list[Estimate]) -> list[float]:
    """What the vertical axis has to hold: all values, and of their intervals as much as leaves the values apart."""
    values = [1.0, *(one.value for one in estimates)]
    low, high = min(values) / _REACH, max(values) * _REACH
    return [*values, *(min(max(end, low), high) for one in estimates for end in (one.low, one.high))]


def _handles(panels: list[Axes]) -> list[Any]:
    """What the panels show, each once."""
    found = lines.handles(panels)
    order = [*(label for label, _ in _CURVES.values()), _HERE_LABEL]
    return [found.pop(label) for label in order if label in found] + [found[label] for label in sorted(found)]

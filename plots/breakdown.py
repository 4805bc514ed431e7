"""The phases of a round: what part of it is computing, and what part moving, handing over and waiting for messages."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from harness import quantity
from plots import page, rows, style
from plots.errors import FigureError

FILE = "breakdown.csv"
_NEEDED = ("workload", "scenario", "backend", "parameters", "trial", "phase", "value", "status")
_PLAIN_ROUND, _ROUND = "plain_round", "round"
# From this on the recording changes a round so much that its parts have to be read with care.
_MARKED = 1.5
_LANE = 0.27  # inches
_LEGEND = 0.24
_NAMED = ("actors", "agents", "object_bytes", "steps_per_message")  # what a panel's title has room for
_ROOM_FOR_TEXT = 11.0  # percent of a bar


@dataclass(frozen=True)
class Phase:
    """How one phase appears wherever phases are drawn."""

    label: str
    color: str
    ink: str


# Paul Tol's bright scheme (2021), which is told apart with every common colour blindness and is none of the backends'.
# Work first, then what comes on top of it.
PHASES = {
    "compute": Phase("workers' code", "#228833", "white"),
    "hub": Phase("hub's code", "#4477AA", "white"),
    "serialise": Phase("serialising", "#EE6677", style.ON_COLOR),
    "submit": Phase("handing over", "#CCBB44", style.ON_COLOR),
    "transfer": Phase("under way", "#AA3377", "white"),
    "wait": Phase("waiting for others", "#BBBBBB", style.INK),
}


@dataclass(frozen=True)
class _Bar:
    """One backend's round: the part of each phase, in percent, how long it is without recording, in ns, and how many
    times as long with it.
    """

    shares: Mapping[str, float]
    round_ns: float
    slowed: float


@dataclass(frozen=True)
class _Point:
    """What was taken apart with equal parameters."""

    workload: str
    scenario: str
    setting: Mapping[str, Any]
    bars: Mapping[str, _Bar]


def phases(taken_apart: pd.DataFrame) -> Figure:
    """The share of each phase in a round, by backend and workload, from the rows of `breakdown.csv`.

    Of a workload with several points the one with the most backends is shown. Raises FigureError.
    """
    points, omitted = _chosen(list(_points(taken_apart)))
    backends = style.ordered(name for point in points for name in point.bars)
    notes = [
        "Beside the bars: the length of such a round without recording. Parts are medians over trials, scaled to 100 %."
    ]
    if any(bar.slowed > _MARKED for point in points for bar in point.bars.values()):
        notes.append(f"*: recording made the round more than {_MARKED:g} times as long, which its parts show, too.")
    if omitted:
        notes.append(f"Not shown: {omitted} other {'point' if omitted == 1 else 'points'} of {FILE}.")
    figure, axes, across = page.panels(
        "The phases of a round",
        "Green and blue: the code of the workload. All else is what communication costs.",
        notes,
        len(points),
        0.95 + _LANE * len(backends),
        legend=_LEGEND,
    )
    for index, (one, point) in enumerate(zip(axes, points, strict=True)):
        _panel(one, point, backends, first=index % across == 0)
    shown = [phase for phase in PHASES if any(bar.shares[phase] for point in points for bar in point.bars.values())]
    page.legend(figure, [Patch(color=PHASES[name].color, label=PHASES[name].label) for name in shown])
    return figure


def _points(taken_apart: pd.DataFrame) -> Iterator[_Point]:
    missing = [name for name in _NEEDED if name not in taken_apart.columns]
    if missing:
        raise FigureError(f"{FILE}: column {missing[0]!r} is missing; expected {', '.join(_NEEDED)}")
    done = taken_apart[taken_apart["status"] == "ok"]
    for (workload, scenario, parameters), own in done.groupby(["workload", "scenario", "parameters"], sort=True):
        bars = {str(backend): bar for backend, of_one in own.groupby("backend") if (bar := _bar(of_one)) is not None}
        if bars:
            yield _Point(str(workload), str(scenario), rows.setting_of({"parameters": parameters}), bars)


def _bar(own: pd.DataFrame) -> _Bar | None:
    """The bar of one backend at one point; None where not every phase is known."""
    times = {
        str(phase): median(rows.number("value", value) for value in of_one["value"])
        for phase, of_one in own.groupby("phase")
    }
    whole = sum(times.get(phase, 0.0) for phase in PHASES)
    plain = times.get(_PLAIN_ROUND, 0.0)
    if not {*PHASES, _ROUND} <= times.keys() or plain <= 0 or not 0 < whole < float("inf") or min(times.values()) < 0:
        return None
    return _Bar({phase: 100 * times[phase] / whole for phase in PHASES}, plain, times[_ROUND] / plain)


def _chosen(points: list[_Point]) -> tuple[list[_Point], int]:
    """One point of each workload, and how many there are besides."""
    if not points:
        raise FigureError(f"{FILE}: no backend has successful rows of all phases")
    best: dict[str, _Point] = {}
    for point in points:
        best[point.workload] = max(best.get(point.workload, point), point, key=_rank)
    return [best[workload] for workload in sorted(best)], len(points) - len(best)


def _rank(point: _Point) -> tuple[Any, ...]:
    return len(point.bars), rows.preference(point.setting), point.scenario, json.dumps(dict(point.setting))


def _panel(axes: Axes, point: _Point, backends: list[str], first: bool) -> None:
    for backend, bar in point.bars.items():
        _draw_bar(axes, backends.index(backend), bar)
    page.lanes(axes, [style.look(name).label if first else "" for name in backends])
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of a round")
    named = {name: point.setting[name] for name in _NAMED if name in point.setting}
    title = f"{point.workload.replace('_', ' ')}: {point.scenario}\n{quantity.sentence(named)}"
    axes.set_title(title, loc="left", fontsize=9)


def _draw_bar(axes: Axes, lane: int, bar: _Bar) -> None:
    left = 0.0
    for name, phase in PHASES.items():
        share = bar.shares[name]
        axes.barh(lane, share, left=left, height=0.68, color=phase.color, edgecolor="white", linewidth=0.6)
        if share >= _ROOM_FOR_TEXT:
            place = {"ha": "center", "va": "center", "fontsize": 8, "color": phase.ink}
            axes.text(left + share / 2, lane, f"{share:.0f}", **place)  # type: ignore[arg-type]
        left += share
    mark = "*" if bar.slowed > _MARKED else ""
    axes.text(102, lane, quantity.duration(bar.round_ns) + mark, va="center", fontsize=8.5)

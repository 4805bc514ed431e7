"""Where a round's time goes: what the plain loop needs for the same work, and what comes on top of it."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from harness.stats.moderated import moderated
from plots import lanes, lines, notes, page, style
from plots import rows as tables
from plots.errors import FigureError

_BASE = "serial"
_LANE = 0.25  # inches
_BESIDE = 2
_NAMED = ("actors", "agents", "object_bytes")  # the parameters that a panel's title has room for


@dataclass(frozen=True)
class _Lane:
    """One backend's round in ns, and the serial loop's as a share of it (above 1 where that is slower)."""

    round_ns: float
    share: intervals.Estimate


def breakdown(measurements: pd.DataFrame) -> Figure:
    """The serial loop's share of every backend's round time, in percent, by workload. Raises FigureError."""
    selections = _selections(measurements)
    panels = [(_title(workload, one), _lanes(one)) for workload, one in selections.items()]
    rows = lanes.rows([found for _, found in panels], _BESIDE)
    figure, axes = page.laned(
        "Where a round's time goes",
        "Solid: what the serial loop takes for the same work. Hatched: communication, scheduling, waiting.",
        [
            (
                "Beside the bars: the mean time of a round, and by what factor it is shorter than the serial "
                "loop's, where its whole interval is and the factor is 1.05 or more."
            ),
            *notes.below(*selections.values()),
        ],
        rows,
        1.0,
        _LANE,
    )
    for row, beside in zip(rows, axes, strict=True):
        backends = style.ordered(row.lanes)
        for one, number in zip(beside, row.panels, strict=True):
            title, found = panels[number]
            _panel(one, found, backends, first=one is beside[0])
            one.set_title(title, loc="left", fontsize=9)
    return figure


def _selections(measurements: pd.DataFrame) -> dict[str, tables.Selection]:
    """The workloads that have rows of the serial loop and of something to compare with it."""
    found = {}
    for workload in sorted(set(measurements.get("workload", ()))):
        try:
            selection = tables.select(measurements, workload, "round_time", [])
        except FigureError:
            continue  # other workloads may have rows
        if _BASE in selection.distinct("backend") and len(selection.distinct("backend")) > 1:
            found[workload] = selection
    if not found:
        raise FigureError(f"no workload has successful rows of round_time for {_BASE} and for another backend")
    return found


def _lanes(selection: tables.Selection) -> dict[str, _Lane]:
    trials = selection.trials("backend")
    base = trials[(_BASE,)]
    shares = {
        backend: intervals.ratio(base, values) for (backend,), values in trials.items() if base.keys() & values.keys()
    }
    shares = {_BASE: shares.pop(_BASE)} | moderated(shares)
    return {
        backend: _Lane(intervals.mean(list(trials[backend,].values())).value, share)
        for backend, share in shares.items()
    }


def _panel(axes: Axes, lanes: dict[str, _Lane], backends: list[str], first: bool) -> None:
    for backend, lane in lanes.items():
        _bar(axes, backends.index(backend), lane, style.look(backend).color)
    page.lanes(axes, [style.look(name).label if first else "" for name in backends])
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of a round")


def _bar(axes: Axes, position: int, lane: _Lane, color: str) -> None:
    share = min(100.0, 100 * lane.share.value)
    axes.barh(position, share, height=0.62, color=color)
    if share < 100:
        axes.barh(position, 100 - share, left=share, height=0.62, facecolor="white", edgecolor=color, hatch="////")
        if lane.share.count > 1:
            whiskers = lines.whiskers([lane.share.scaled(100)])
            axes.errorbar([share], [position], xerr=whiskers, color=style.INK, capsize=3, linewidth=1.2)
    clearly_faster = lane.share.low > 1 and lane.share.value >= 1.05
    faster = f" ({lane.share.value:.1f}×)" if clearly_faster else ""
    axes.text(102, position, quantity.duration(lane.round_ns) + faster, va="center", fontsize=8.5)


def _title(workload: str, selection: tables.Selection) -> str:
    scenario = selection.distinct("scenario")[0]
    named = {name: selection.setting[name] for name in _NAMED if name in selection.setting}
    return f"{workload.replace('_', ' ')}: {scenario}\n{quantity.sentence(named)}"

"""Shared by the figures: the choice of points and backends, their bars and curves, and notes."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

from harness import quantity
from harness.grouping import grouped
from harness.report import published
from harness.report.summary import LOOP, RAY_PAPER, Cell, PointSummary, Summary, in_order
from harness.stats.intervals import FEW, Estimate
from harness.stats.judgement import TOO_FEW, UNDECIDED, standing
from harness.store import machine
from plots.chart import Bar, BarPanel, Chart, LinePanel, Points, Scale
from workloads.catalogue import WORKLOADS

# These change how long something is measured, not what.
_NOT_A_SETTING = ("seed", "rounds", "warmup_rounds", "messages_per_round")
NAMES = {name: workload.title for name, workload in WORKLOADS.items()}
# The parameters that a figure names; the others are hyperparameters.
_NAMED = ("actors", "agents", "object_bytes", "steps", "steps_per_message", "work_seconds")
NS = 1e9
_PUBLISHED = "published-"

_Item = TypeVar("_Item")
Value = Callable[[Cell], Estimate | None]


@dataclass(frozen=True)
class PointSet:
    """Points of one workload that differ in some parameters alone. `omitted`: how many points differ in others."""

    points: tuple[PointSummary, ...]
    setting: Mapping[str, Any]
    omitted: int

    @property
    def subtitle(self) -> str:
        """The parameters that all points share."""
        return ", ".join(quantity.parameter(name, self.setting[name]) for name in _NAMED if name in self.setting)

    @property
    def notes(self) -> list[str]:
        return [f"Not shown: {quantity.counted(self.omitted, 'point')} with other parameters."] if self.omitted else []


def sweep(summary: Summary, workload: str, metric: str, varied: Sequence[str]) -> PointSet:
    """The points of a workload that vary these parameters, all others at the setting that has most to show."""
    chosen = [
        point
        for point in summary.points
        if (point.workload, point.metric) == (workload, metric)
        if varied[0] in point.parameters and any(cell.main for cell in point.cells)
    ]
    if not chosen:
        return PointSet((), {}, 0)

    def setting(point: PointSummary) -> str:
        kept = {name: value for name, value in point.parameters.items() if name not in (*_NOT_A_SETTING, *varied)}
        return json.dumps(kept, sort_keys=True)

    def rank(text: str) -> tuple[int, tuple[float, ...], str]:
        shown = sum(cell.main is not None for point in settings[text] for cell in point.cells)
        return shown, preference(json.loads(text)), text

    settings = grouped(chosen, setting)
    best = max(settings, key=rank)
    by_place = {tuple(point.parameters.get(name) for name in varied): point for point in settings[best]}
    places = sorted(by_place, key=lambda place: [(one is not None, one) for one in place])
    return PointSet(tuple(by_place[place] for place in places), json.loads(best), len(chosen) - len(places))


def title(point: PointSummary) -> str:
    """The title of a panel: the workload as figures call it, and the label of the point."""
    return f"{NAMES.get(point.workload, point.workload)} {point.label}"


def preference(setting: Mapping[str, Any]) -> tuple[float, ...]:
    """Larger for a setting that figures prefer: arrays, an environment at its own pace, one step per message, then
    many actors and bytes.
    """
    return (
        setting.get("representation", "arrays") == "arrays",
        -(setting.get("step_busy_us") or 0.0),
        -setting.get("steps_per_message", 1),
        setting.get("actors", 0),
        setting.get("agents", 0),
        setting.get("object_bytes", 0),
    )


def best_of(things: Iterable[_Item], place: Callable[[_Item], Hashable], rank: Callable[[_Item], Any]) -> list[_Item]:
    """The thing of highest rank at each place."""
    return [max(own, key=rank) for own in grouped(things, place).values()]


def backends(
    summary: Summary, points: Sequence[PointSummary], *, everything: bool, also: Sequence[str] = ()
) -> list[str]:
    """The loop, reactors on all cores, each Ray that is the best at one of these points, and `also` these.

    `everything`: all backends, as where reactors on all cores have no result.
    """
    present = in_order(cell.backend for point in points for cell in point.cells if cell.main)
    ours = [cell for point in points if (cell := point.cell(summary.ours)) is not None and cell.main]
    best = {found[1] for cell in ours if (found := cell.best_ray) is not None}
    chosen = {LOOP, summary.ours, *best, *also}
    return [name for name in present if everything or not ours or name in chosen]


def time_of(units: float) -> Value:
    """The ns that many units of work take, from a rate per second."""
    return lambda cell: cell.main.inverse().scaled(units * NS) if cell.main else None


def chart(title: str, subtitle: str, panels: Iterable[BarPanel | LinePanel], *notes: str) -> Chart | None:
    """A figure, whose first note says of how many starts its own numbers are, if any; None without a panel."""
    drawn, estimates = tuple(panels), []
    for panel in drawn:
        if isinstance(panel, BarPanel):
            estimates += [bar.estimate for bar in panel.bars if not bar.series.startswith(_PUBLISHED)]
        else:
            own = (points for name, points in panel.curves.items() if not name.startswith(_PUBLISHED))
            estimates += [one for points in own for one in points.values()]
    return Chart(title, subtitle, drawn, tuple(filter(None, (starts_note(estimates), *notes)))) if drawn else None


def bars(values: Mapping[str, Estimate], text: Callable[[float], str], *, most_first: bool = False) -> tuple[Bar, ...]:
    """A bar for each series, the best on top."""
    ranked = sorted(values.items(), key=lambda item: item[1].value, reverse=most_first)
    return tuple(Bar(series, one, text(one.value)) for series, one in ranked)


def bar_chart(
    summary: Summary,
    found: PointSet,
    name: str,
    scale: Scale,
    title: Callable[[PointSummary], str],
    *notes: str,
    everything: bool,
    value: Value = attrgetter("main"),
    text: Callable[[float], str] = quantity.duration,
    most_first: bool = False,
    beside: Callable[[PointSummary], Mapping[str, Estimate]] = lambda _: {},
    published_for: str = "",
) -> Chart | None:
    """A panel for each point, with a bar for each backend, the best on top, and published values `beside` them last."""
    chosen = backends(summary, found.points, everything=everything, also=[RAY_PAPER])
    panels = []
    for point in found.points:
        ranked = bars(values_at(point, chosen, value), text, most_first=most_first)
        shown = (*ranked, *(Bar(series, one, text(one.value)) for series, one in beside(point).items()))
        if shown:
            panels.append(BarPanel(title(point), scale, shown))
    published_too = [published_note(published_for)] if any(map(beside, found.points)) else []
    heading = against_best_ray(summary, found.points, name, scale.label)
    return chart(heading, found.subtitle, panels, *notes, *found.notes, *published_too)


def values_at(point: PointSummary, chosen: Iterable[str], value: Value = attrgetter("main")) -> dict[str, Estimate]:
    """The values of these backends at a point, where they are known."""
    return {cell.backend: one for cell in point.cells if cell.backend in chosen and (one := value(cell)) is not None}


def curves(places: Iterable[tuple[float, Mapping[str, Estimate]]]) -> dict[str, Points]:
    """A curve for each backend, from the values at each place of an axis."""
    values = ((backend, x, one) for x, at in places for backend, one in at.items())
    return {backend: {x: one for _, x, one in own} for backend, own in grouped(values, lambda each: each[0]).items()}


def published_curves(figure: str, unit: float = 1, factor: float = 1.0) -> dict[str, dict[float, Estimate]]:
    """The paper's curves in a figure, by the name that plots have for its series.

    `unit`: of a step of the axis. `factor`: by which the values are larger in ours.
    """
    return {
        f"{_PUBLISHED}{name}": {float(x) * unit: value.scaled(factor) for x, value in one.points.items()}
        for name, one in published.series(figure).items()
    }


def published_at(figure: str, x: object, factor: float = 1.0) -> dict[str, Estimate]:
    """The paper's values at one place of a figure's axis, by series."""
    found = published.series(figure).items()
    return {f"{_PUBLISHED}{name}": one.points[str(x)].scaled(factor) for name, one in found if str(x) in one.points}


def published_note(condition: str) -> str:
    """The note about hollow marks."""
    return f"Hollow: published in 2024 ({condition}) of older versions on a larger machine; no result of this suite."


def starts_note(estimates: Iterable[Estimate], shown_by: str = "whiskers") -> str:
    """Of how many starts the numbers are, and whether that is enough for intervals. Empty without a number."""
    counts = sorted({one.count for one in estimates})
    if not counts:
        return ""
    number = f"{quantity.from_to(counts)} start{'' if counts[-1] == 1 else 's'}"
    if counts[-1] <= FEW:
        return f"Means of {number}, too few for an interval."
    return f"Means of {number}; {shown_by}: 95 % intervals" + (", from three starts on." if counts[0] <= FEW else ".")


def against_best_ray(summary: Summary, points: Sequence[PointSummary], name: str, otherwise: str) -> str:
    """The finding of a figure: at how many times the best Ray's speed reactors run at these points."""
    cells = [cell for point in points if (cell := point.cell(summary.ours)) is not None]
    ratios = [best[0] for cell in cells if (best := cell.best_ray) is not None]
    if not ratios:
        return f"{name}: {otherwise}"
    standings = [standing(one, summary.floor) for one in ratios]
    counts = {word: standings.count(word) for word in (UNDECIDED, TOO_FEW)}
    doubts = [f"{word} at {count}" for word, count in counts.items() if count]
    doubt = f" ({', '.join(doubts)} of {quantity.counted(len(ratios), 'point')})" if doubts else ""
    return f"{name}: reactors run at {span(ratios)} the best Ray's speed{doubt}"


def span(ratios: Sequence[Estimate]) -> str:
    """The lowest and the highest of some ratios."""
    return quantity.from_to((one.value for one in ratios), quantity.times)


def on_cores(summary: Summary) -> str:
    """Where it was measured, for a title."""
    where = f"On {quantity.counted(summary.cores, 'core')}" if summary.cores else "On all cores"
    return f"{where}{machine.sharing(summary.machine)}"

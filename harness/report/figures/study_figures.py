"""Figures of studies: phases of a round, scaling with workers, and advice on one environment."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness import quantity
from harness.grouping import grouped
from harness.report.figures import figure_points as shared
from harness.report.study_tables import phase_medians
from harness.report.summary import RAY, Summary
from harness.stats.intervals import Estimate
from harness.store.phase_table import COMPUTE, HUB, PLAIN_ROUND, ROUND, PhaseRow
from harness.store.scaling_table import MEASURED, PREDICTIONS, ScalingRow
from plots.bars import PHASES
from plots.chart import REST, WORK, Bar, BarPanel, Chart, LinePanel, Points, Scale

# From this on the recording changes a round so much that its parts have to be read with care.
_MARKED = 1.5
_MEASURED = "reactor-processes"


def breakdown(summary: Summary, **_: bool) -> Chart | None:
    """The share of each phase in a round by backend, one point of each workload."""
    points: dict[tuple[str, str], list[Bar]] = {}
    for (point, backend), own in grouped(summary.phases, lambda row: (row.point, row.backend)).items():
        if (bar := _phases(backend, own)) is not None:
            points.setdefault(point, []).append(bar)
    best = shared.best_of(
        points, lambda one: one[0], lambda one: (len(points[one]), shared.preference(json.loads(one[1])))
    )
    if not best:
        return None
    scale = Scale("% of a round")
    panels = [BarPanel(_title(at), scale, tuple(sorted(points[at], key=_working, reverse=True))) for at in best]
    bars = [bar for panel in panels for bar in panel.bars]
    notes = [
        "At the end of a bar: such a round without recording, a median over starts.",
        "Code counts as running while its process waits for a core, so more actors than cores make it longer.",
    ]
    if any(bar.text.endswith("*") for bar in bars):
        notes.append(f"*: recording made the round more than {_MARKED:g} times as long, which its parts also show.")
    return Chart(
        _phases_found(bars), "Green and blue: code of the workload. All else: communication.", tuple(panels),
        tuple(notes),
    )  # fmt: skip


def _phases(backend: str, rows: Sequence[PhaseRow]) -> Bar | None:
    """The round of one backend at one point; None where not every phase is known."""
    times = phase_medians(rows)
    whole = sum(times.get(phase, 0.0) for phase in PHASES)
    if not {*PHASES, ROUND, PLAIN_ROUND} <= times.keys() or not whole or not times[PLAIN_ROUND]:
        return None
    mark = "*" if times[ROUND] > _MARKED * times[PLAIN_ROUND] else ""
    parts = tuple((phase, 100 * times[phase] / whole) for phase in PHASES)
    return Bar(backend, Estimate(100.0, 100.0, 100.0, 1), quantity.duration(times[PLAIN_ROUND]) + mark, parts)


def _working(bar: Bar) -> float:
    return sum(length for kind, length in bar.parts if kind in (COMPUTE, HUB))


def _phases_found(bars: Sequence[Bar]) -> str:
    rays = [100 - _working(bar) for bar in bars if bar.series.startswith(RAY)]
    ours = [100 - _working(bar) for bar in bars if not bar.series.startswith(RAY)]
    if not rays or not ours:
        return "What part of a round is communication"
    of_rays, of_ours = (quantity.from_to(parts, "{:.0f} %".format) for parts in (rays, ours))
    return f"Communication is {of_rays} of a round on Ray, {of_ours} on reactors"


def _title(point: tuple[str, str]) -> str:
    return shared.panel_title(point[0], json.loads(point[1]), "actors", "agents", "object_bytes", "steps_per_message")


def scaling(summary: Summary, **_: bool) -> Chart | None:
    """Predicted and measured speed-up by number of workers, one point of each workload."""
    rows = [row for row in summary.scaling if row.ok and row.speedup]
    by_point = grouped(rows, lambda row: row.point)

    def rank(point: tuple[str, str]) -> tuple[Any, ...]:
        own = by_point[point]
        return len({row.kind for row in own}), len(own), shared.preference(json.loads(point[1]))

    best = shared.best_of(by_point, lambda one: one[0], rank)
    return shared.chart(
        _scaling_found(rows),
        "Dashed: what the program's graph allows over one worker. Shaded: beyond the measured range.",
        [_scaling_panel(point, by_point[point]) for point in best],
        "Predicted from what each reaction took on one worker. Measured: over the serial loop.",
    )


def _speed_up(row: ScalingRow) -> Estimate:
    value = row.speedup or 0.0
    return Estimate(value, row.low or value, row.high or value, row.trials)


def _scaling_panel(point: tuple[str, str], rows: Sequence[ScalingRow]) -> LinePanel:
    curves: dict[str, Points] = {
        _MEASURED if kind == MEASURED else kind: {float(row.workers): _speed_up(row) for row in own}
        for kind, own in grouped(rows, lambda row: row.kind).items()
    }
    return LinePanel(
        _title(point), Scale("workers", quantity.count), Scale("speed-up (x)", log=True), curves, (1.0,),
        measured_until=max(curves.get(_MEASURED, {}), default=None),
    )  # fmt: skip


def _scaling_found(rows: Sequence[ScalingRow]) -> str:
    """The finding: the part of the prediction that is reached on the most workers that were measured."""
    parts = []
    most = max((row.workers for row in rows if row.kind == MEASURED), default=0)
    for own in grouped((row for row in rows if row.workers == most), lambda row: row.point).values():
        found = {row.kind: row.speedup or 0.0 for row in own}
        ahead = next((found[kind] for kind in reversed(PREDICTIONS) if kind in found), None)
        if ahead and MEASURED in found:
            parts.append(100 * (found[MEASURED] / ahead))
    if not parts:
        return "Predicted scaling with workers"
    told = quantity.from_to(parts, "{:.0f} %".format)
    return f"On {quantity.counted(most, 'worker')}, {told} of the predicted speed-up is reached"


def advice(title: str, answer: str, rounds_ns: Mapping[str, float], ideal_ns: float) -> Chart:
    """The time of a round by backend, the fastest on top; solid is what stepping on all cores alone would take."""
    bars = tuple(
        Bar(name, Estimate(ns, ns, ns, 1), quantity.duration(ns),
            ((WORK, min(ideal_ns, ns)), (REST, max(0.0, ns - ideal_ns))))
        for name, ns in rounds_ns.items()
    )  # fmt: skip
    return Chart(
        title,
        answer,
        (BarPanel("", Scale("time of a round", quantity.duration_tick), bars),),
        (
            "Solid: stepping the environments on all cores. Hatched: messages, scheduling, waiting, unused cores.",
            "Measured in turns, by `python -m harness advise`.",
        ),
    )

"""Figures of studies: scaling with workers, and advice on one environment."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness import quantity
from harness.grouping import grouped
from harness.report.figures import figure_points as shared
from harness.report.point_labels import point_labels
from harness.report.summary import Summary
from harness.stats.intervals import Estimate
from harness.store.scaling_table import MEASURED, PREDICTIONS, ScalingRow
from plots.chart import REST, WORK, Bar, BarPanel, Chart, LinePanel, Points, Scale

_MEASURED = "reactor-processes"


def scaling(summary: Summary, **_: bool) -> Chart | None:
    """Predicted and measured speed-up by number of workers, one point of each workload."""
    rows = [row for row in summary.scaling if row.ok and row.speedup]
    by_point = grouped(rows, lambda row: row.point)

    def rank(own: Sequence[ScalingRow]) -> tuple[Any, ...]:
        return len({row.kind for row in own}), len(own), shared.preference(own[0].values)

    best = shared.best_of(by_point.values(), lambda own: own[0].workload, rank)
    return shared.chart(
        _scaling_found(rows),
        "Dashed: what the program's graph allows over one worker. Shaded: beyond the measured range.",
        list(map(_scaling_panel, best)),
        "Predicted from what each reaction took on one worker. Measured: over the serial loop.",
    )


def _speed_up(row: ScalingRow) -> Estimate:
    value = row.speedup or 0.0
    return Estimate(value, row.low or value, row.high or value, row.trials)


def _scaling_panel(rows: Sequence[ScalingRow]) -> LinePanel:
    curves: dict[str, Points] = {
        _MEASURED if kind == MEASURED else kind: {float(row.workers): _speed_up(row) for row in own}
        for kind, own in grouped(rows, lambda row: row.kind).items()
    }
    return LinePanel(
        f"{shared.NAMES.get(rows[0].workload, rows[0].workload)} {point_labels(rows)[rows[0].point]}",
        Scale("workers", quantity.count), Scale("speed-up (x)", log=True), curves, (1.0,),
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

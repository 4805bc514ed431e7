"""The scaling of a run with workers as a table, beside its prediction."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from harness import quantity
from harness.grouping import grouped
from harness.report.point_labels import point_labels
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats.intervals import Estimate
from harness.store.scaling_table import HERE, MEASURED, PAID, PREDICTED, CostRow, ScalingRow

_SCALING_COLUMNS = (
    "point", "workers", "messages free", "messages paid", "on these cores", "measured", "measured / predicted",
)  # fmt: skip
SCALING_EXPLAINED = explanation("scaling")


def scaling_table(rows: Sequence[ScalingRow]) -> TextTable:
    """For each point all numbers of workers."""
    lines, labels = [], point_labels(rows)
    for of_point in grouped(rows, lambda row: row.point).values():
        own = {(row.kind, row.workers): row for row in of_point}
        for position, count in enumerate(sorted({workers for _, workers in own})):
            measured = own.get((MEASURED, count))
            predictions = (own.get((kind, count)) for kind in (HERE, PREDICTED))
            ahead = next((one.speedup for one in predictions if one and one.speedup), None)
            share = f"{100 * measured.speedup / ahead:.0f} %" if ahead and measured and measured.speedup else NOTHING
            label = "" if position else _label(of_point[0], labels)
            shown = (_speed_up(own.get((kind, count))) for kind in (PREDICTED, PAID, HERE))
            lines.append((label, str(count), *shown, _speed_up(measured), share))
    return TextTable("scaling with workers", _SCALING_COLUMNS, tuple(lines))


def prediction_table(rows: Sequence[ScalingRow]) -> TextTable:
    """For each point the speed-up that is predicted with messages paid for, by number of workers."""
    ahead = {(row.point, row.workers): row for row in rows if row.kind == PAID}
    counts, labels = sorted({workers for _, workers in ahead}), point_labels(rows)
    lines = (
        (_label(own[0], labels), *(_speed_up(ahead.get((point, count))) for count in counts))
        for point, own in grouped(rows, lambda row: row.point).items()
    )
    return TextTable("", ("point", *map(str, counts)), tuple(lines))


def _label(row: ScalingRow, labels: Mapping[str, str]) -> str:
    return f"{row.workload} {labels[row.point]}"


def _speed_up(row: ScalingRow | None) -> str:
    if row is None:
        return NOTHING
    if row.speedup is None or row.low is None or row.high is None:
        return row.status
    return quantity.estimated(Estimate(row.speedup, row.low, row.high, row.trials), "x")


def message_costs(costs: Sequence[CostRow]) -> Iterator[str]:
    """The cost of a message, medians over trials; nothing where it was not measured."""
    if costs:
        send, receive, between, byte = (
            median(cost.value for cost in costs if cost.part == part)
            for part in ("send_ns", "receive_ns", "latency_ns", "byte_ns")
        )
        shown = [quantity.show(value, "ns") for value in (send, receive, between, 1e6 * byte)]
        yield (
            f"A message between two workers on this machine cost {shown[0]} of its sender, {shown[1]} of its receiver, "
            f"{shown[2]} between the two, and {shown[3]} for each MB"
        )

"""Predictions and measurement side by side, as text: a line for each workload, and a table of all points."""

from collections.abc import Iterator, Sequence
from statistics import median

from harness import quantity
from harness.grouping import grouped
from harness.report.point_labels import point_labels
from harness.stats.intervals import Estimate
from harness.store.scaling_table import HERE, MEASURED, PAID, PREDICTED, CostRow, ScalingRow

HEADING = "Predicted and measured scaling with workers"
TITLE = "scaling with workers"
COLUMNS = ("point", "workers", "messages free", "messages paid", "on these cores", "measured", "measured / predicted")
EXPLAINED = (
    "Predicted is the speed-up over one worker, calculated from what each reaction took in a traced run on one worker "
    "and the partition that so many workers would have: 'messages free' is what the program's static graph allows "
    "when messages cost nothing; 'messages paid' pays for each what one cost on this machine; both with a core for "
    "each worker, of which there may be fewer; 'on these cores' is the latter on the cores that there were. 'measured' "
    "is the speed-up of reactor-processes over the serial loop, and so on 1 worker tells what reactors cost. "
    "'measured / predicted' compares it with the prediction on these cores, or with messages free where that is all."
)


def lines(rows: Sequence[ScalingRow], costs: Sequence[CostRow] = ()) -> Iterator[str]:
    """For each workload how far measurement and prediction are apart, on the numbers of workers of which most is told:
    the most measured, and those on which the cores suffice. Then what a message cost, and what all this is. Nothing
    without rows.
    """
    for workload, own in grouped(rows, lambda row: row.workload).items():
        told = [line for count in _counts_told(own, costs) for line in _line(own, workload, count)]
        if not told:
            reason = next((row.status for row in own if row.status != "ok"), "")
            yield f"{workload}: not compared" + (f" ({reason})" if reason else "")
        yield from told
    if rows:
        yield from told_costs(costs)
        yield EXPLAINED


def _counts_told(rows: Sequence[ScalingRow], costs: Sequence[CostRow]) -> list[int]:
    """As many workers as cores, where that is known, and the most that were measured."""
    measured = {row.workers for row in rows if row.kind == MEASURED and row.speedup}
    return sorted({*measured & {cost.cores for cost in costs}, max(measured, default=0)})


def _line(rows: Sequence[ScalingRow], workload: str, count: int) -> Iterator[str]:
    pairs = [
        (ahead, row)
        for row in rows
        if row.kind == MEASURED and row.workers == count and row.speedup
        if (ahead := _checked(rows, row.point, count)) is not None
    ]
    if pairs:
        predicted, measured = _ends([ahead for ahead, _ in pairs]), _ends([found for _, found in pairs])
        number = "1 worker" if count == 1 else f"{count} workers"
        yield f"{workload} on {number}: predicted {predicted}, measured {measured}, which is {_part(pairs)} of it"


def told_costs(costs: Sequence[CostRow]) -> Iterator[str]:
    """What a message cost, medians over trials; nothing where that was not measured."""
    if costs:
        send, receive, between, byte = (
            median(cost.value for cost in costs if cost.part == part)
            for part in ("send_ns", "receive_ns", "latency_ns", "byte_ns")
        )
        shown = [quantity.show(value, "ns") for value in (send, receive, between, 1e6 * byte)]
        yield (
            f"A message between two workers cost, measured between two on this machine: {shown[0]} of its sender, "
            f"{shown[1]} of its receiver, {shown[2]} between the two, and {shown[3]} for each MB"
        )


def _ends(rows: Sequence[ScalingRow]) -> str:
    """The lowest and the highest speed-up, each with its interval."""
    ordered = sorted(rows, key=lambda row: row.speedup or 0.0)
    return " to ".join(dict.fromkeys(_cell(row) for row in (ordered[0], ordered[-1])))


def _part(pairs: Sequence[tuple[ScalingRow, ScalingRow]]) -> str:
    """What part of the prediction is measured, over the whole intervals of what is measured."""
    parts = [
        100 * end / ahead.speedup for ahead, found in pairs for end in (found.low, found.high) if end and ahead.speedup
    ]
    return " to ".join(dict.fromkeys(f"{part:.0f} %" for part in (min(parts), max(parts))))


def cells(rows: Sequence[ScalingRow]) -> Iterator[tuple[str, ...]]:
    """The table: for each point all numbers of workers."""
    for point, name in point_labels(rows).items():
        own = [row for row in rows if row.point == point]
        for position, count in enumerate(sorted({row.workers for row in own})):
            measured, checked = _find(own, point, MEASURED, count), _checked(own, point, count)
            share = "-"
            if checked and checked.speedup and measured and measured.speedup:
                share = f"{100 * measured.speedup / checked.speedup:.0f} %"
            label = f"{point[0]} {name}" if position == 0 else ""
            shown = (_cell(_find(own, point, kind, count)) for kind in (PREDICTED, PAID, HERE))
            yield label, str(count), *shown, _cell(measured), share


def _cell(row: ScalingRow | None) -> str:
    if row is None:
        return "-"
    if row.speedup is None or row.low is None or row.high is None:
        return row.status
    return quantity.estimated(Estimate(row.speedup, row.low, row.high, row.trials), "x")


def _checked(rows: Sequence[ScalingRow], point: tuple[str, str], workers: int) -> ScalingRow | None:
    """The prediction that a measurement is compared with."""
    found = (_find(rows, point, kind, workers) for kind in (HERE, PREDICTED))
    return next((row for row in found if row is not None and row.speedup), None)


def _find(rows: Sequence[ScalingRow], point: tuple[str, str], kind: str, workers: int) -> ScalingRow | None:
    return next((row for row in rows if (row.point, row.kind, row.workers) == (point, kind, workers)), None)

"""Prediction and measurement side by side, as text: a line for each workload, and a table of all points."""

from collections.abc import Iterator, Sequence

from harness import quantity
from harness.scaling.table import MEASURED, PREDICTED, Row
from harness.stats import Estimate
from harness.summary import point_labels

HEADING = "Predicted and measured scaling with workers"
TITLE = "scaling with workers"
COLUMNS = ("point", "workers", "predicted", "measured", "measured / predicted")
EXPLAINED = (
    "'Predicted' is the speed-up over one worker that the program's static graph allows when "
    "messages cost nothing, calculated from what each reaction took in a traced run on one worker; 'measured' is that "
    "of reactor-processes over the serial loop. What lies between the two is communication, and cores that others use."
)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """For each workload how far measurement and prediction are apart, on the most workers measured; then what the two
    are. Nothing without rows.
    """
    for workload in dict.fromkeys(row.workload for row in rows):
        own = [row for row in rows if row.workload == workload]
        most = max((row.workers for row in own if row.kind == MEASURED and row.speedup), default=0)
        pairs = [
            (ahead, row)
            for row in own
            if row.kind == MEASURED and row.workers == most and row.speedup
            if (ahead := _find(own, row.point, PREDICTED, most)) is not None and ahead.speedup
        ]
        if not pairs:
            reason = next((row.status for row in own if row.status != "ok"), "")
            yield f"{workload}: not compared" + (f" ({reason})" if reason else "")
            continue
        predicted, measured = _ends([ahead for ahead, _ in pairs]), _ends([found for _, found in pairs])
        number = "1 worker" if most == 1 else f"{most} workers"
        yield f"{workload} on {number}: predicted {predicted}, measured {measured}, which is {_part(pairs)} of it"
    if rows:
        yield EXPLAINED


def _ends(rows: Sequence[Row]) -> str:
    """The lowest and the highest speed-up, each with its interval."""
    ordered = sorted(rows, key=lambda row: row.speedup or 0.0)
    return " to ".join(dict.fromkeys(_cell(row) for row in (ordered[0], ordered[-1])))


def _part(pairs: Sequence[tuple[Row, Row]]) -> str:
    """What part of the prediction is measured, over the whole intervals of what is measured."""
    parts = [
        100 * end / ahead.speedup for ahead, found in pairs for end in (found.low, found.high) if end and ahead.speedup
    ]
    return " to ".join(dict.fromkeys(f"{part:.0f} %" for part in (min(parts), max(parts))))


def cells(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The table: for each point the numbers of workers that were measured, and the largest predicted."""
    for point, name in point_labels(rows).items():
        own = [row for row in rows if row.point == point]
        counts = {row.workers for row in own if row.kind == MEASURED}
        counts.add(max(row.workers for row in own))
        for position, count in enumerate(sorted(counts)):
            predicted, measured = (_find(own, point, kind, count) for kind in (PREDICTED, MEASURED))
            share = "-"
            if predicted and measured and predicted.speedup and measured.speedup:
                share = f"{100 * measured.speedup / predicted.speedup:.0f} %"
            label = f"{point[0]} {name}" if position == 0 else ""
            yield label, str(count), _cell(predicted), _cell(measured), share


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    if row.speedup is None or row.low is None or row.high is None:
        return row.status
    return quantity.estimated(Estimate(row.speedup, row.low, row.high, row.trials), "x")


def _find(rows: Sequence[Row], point: tuple[str, str], kind: str, workers: int) -> Row | None:
    return next((row for row in rows if (row.point, row.kind, row.workers) == (point, kind, workers)), None)

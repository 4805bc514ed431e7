"""A run's numbers as a history needs them: one series per point, backend and metric, ratios to baselines included."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import record, stats
from harness.grouping import grouped
from harness.record import Row
from harness.stats import Estimate
from harness.summary import OURS, Summary, point_labels, summarise


@dataclass(frozen=True)
class Series:
    """One number of a run with its interval. `parameters`: JSON of the point's.

    `metric`: a metric of `measurements.csv`, or "speedup over <baseline>" in times ("x").
    """

    workload: str
    label: str
    parameters: str
    backend: str
    metric: str
    unit: str
    estimate: Estimate


@dataclass(frozen=True)
class Measured:
    """A run as a history needs it. `points`: a row of each."""

    machine: Mapping[str, Any]
    points: tuple[Row, ...]
    series: tuple[Series, ...]


def read(path: Path) -> Measured:
    """The series of a results directory; raises UsageError where it can't be read."""
    summary = summarise(path)
    rows = record.read(path / record.FILE_NAME)
    found = (*_values(summary, rows), *_ratios(summary, rows))
    points = tuple({row.point: row for row in rows}.values())
    return Measured(summary.machine, points, found)


def _values(summary: Summary, rows: Sequence[Row]) -> Iterator[Series]:
    failed = {(point.workload, point.label, cell.backend) for point, cell in summary.failures}
    labels = point_labels(rows)
    successful = grouped((row for row in rows if row.ok), lambda row: (row.point, row.backend, row.metric))
    for (point, backend, metric), own in successful.items():
        # Where one trial failed, its digest perhaps, the others are no result either.
        if (point[0], labels[point], backend) not in failed:
            estimate = stats.mean([row.value for row in own if row.value is not None])
            yield Series(point[0], labels[point], point[1], backend, metric, own[0].unit, estimate)


def _ratios(summary: Summary, rows: Sequence[Row]) -> Iterator[Series]:
    parameters = {(point[0], label): point[1] for point, label in point_labels(rows).items()}
    for point in summary.points:
        for cell in point.cells:
            if cell.backend.startswith(OURS) and not cell.failures:
                for baseline, speedup in cell.speedups.items():
                    name, at = f"speedup over {baseline}", (point.workload, point.label)
                    yield Series(*at, parameters[at], cell.backend, name, "x", speedup)

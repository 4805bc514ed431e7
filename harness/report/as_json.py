"""A report for programs."""

import dataclasses
from typing import Any

from harness.report.summary import SIDE_METRICS, Cell, Summary


def to_json(summary: Summary) -> dict[str, Any]:
    """The report for programs."""
    return {
        "path": str(summary.path),
        "points": [
            {
                "workload": point.workload,
                "label": point.label,
                "metric": point.metric,
                "unit": point.units[point.metric],
                "backends": {cell.backend: _cell_json(cell) for cell in point.cells},
            }
            for point in summary.points
        ],
        "doubts": list(summary.doubts),
        "noise": [dataclasses.asdict(one) for one in summary.noise],
        "scaling": [dataclasses.asdict(row) for row in summary.scaling],
        "messages": [dataclasses.asdict(row) for row in summary.messages],
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    side = {name: cell.metrics[name] for name in SIDE_METRICS if name in cell.metrics}
    return {
        "mean": dataclasses.asdict(cell.main) if cell.main else None,
        "speedups": {name: dataclasses.asdict(speedup) for name, speedup in cell.speedups.items()},
        **{name: one.value for name, one in side.items()},
        "intervals": {name: [one.low, one.high] for name, one in side.items()},
        "doubts": list(cell.doubts),
        "failures": list(cell.failures),
    }

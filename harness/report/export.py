"""A run's estimates for programs, and for the trackers that follow speed over commits.

`github-action-benchmark`: the input of its tool `customSmallerIsBetter`, a list of names with units and values. One
file has one direction there, so each entry is the time in which the main metric's work is done, never a rate.

`bencher`: the Bencher Metric Format (https://bencher.dev/bmf.json), which is a value with its bounds by benchmark and
measure.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from harness.errors import UsageError
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.report.summary import Cell, PointSummary, Summary
from harness.stats.intervals import Estimate

# Bencher refuses longer names.
_MOST_CHARACTERS = 1024


def to_json(summary: Summary) -> dict[str, Any]:
    """The report for programs."""
    return {
        "path": str(summary.path),
        "points": [
            {
                "point": point.name,
                "metric": point.metric,
                "unit": point.units[point.metric],
                "backends": {cell.backend: asdict(cell) for cell in point.cells},
            }
            for point in summary.points
        ],
        "doubts": summary.doubts,
        **{name: [asdict(one) for one in getattr(summary, name)] for name in ("noise", "scaling", "messages")},
    }


def github_action_benchmark(summary: Summary) -> list[dict[str, Any]]:
    """Nanoseconds of each backend at each point, with half the width of its interval if there is one."""
    found = []
    for point, cell, estimate in _measured(summary):
        time, unit = estimate, point.units[point.metric]
        if point.metric in HIGHER_IS_BETTER:
            time, unit = time.inverse().scaled(1e9), f"ns/{unit.removesuffix('/s').removesuffix('s')}"
        entry = {"name": _name(point, cell), "unit": unit, "value": time.value}
        if time.decides:
            entry["range"] = f"± {(time.high - time.low) / 2:.4g}"
            entry["extra"] = f"95 % interval [{time.low:.6g}, {time.high:.6g}] of {time.count} trials"
        found.append(entry)
    return found


def bencher(summary: Summary) -> dict[str, dict[str, dict[str, float]]]:
    """The main metric of each backend at each point, and its speed-up over each baseline."""
    return {
        _name(point, cell): {
            point.metric.replace("_", "-"): _bounded(estimate),
            **{f"speedup-over-{name}": _bounded(ratio) for name, ratio in cell.speedups.items()},
        }
        for point, cell, estimate in _measured(summary)
    }


EXPORTS: dict[str, Callable[[Summary], Any]] = {"github-action-benchmark": github_action_benchmark, "bencher": bencher}


def _measured(summary: Summary) -> Iterator[tuple[PointSummary, Cell, Estimate]]:
    """Each backend with a value at each point; one with a failed trial has none. Raises UsageError without any."""
    found = [
        (point, cell, cell.main)
        for point in summary.points
        for cell in point.cells
        if cell.main is not None and not cell.failures
    ]
    if not found:
        raise UsageError(f"{summary.path}: no backend has a value to export; see `harness report`")
    yield from found


def _name(point: PointSummary, cell: Cell) -> str:
    return f"{point.name}, {cell.backend}"[:_MOST_CHARACTERS]


def _bounded(estimate: Estimate) -> dict[str, float]:
    bounds = {"lower_value": estimate.low, "upper_value": estimate.high} if estimate.decides else {}
    return {"value": estimate.value, **bounds}

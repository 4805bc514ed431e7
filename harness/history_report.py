"""What `history` prints, and the rows that its figure is drawn from. Decides nothing."""

from collections.abc import Iterator
from typing import Any

from harness import quantity
from harness.history import History
from harness.stats import Estimate


def lines(found: History) -> Iterator[str]:
    """The machine, then for each curve a heading and a line per run."""
    yield found.machine
    for curve in found.curves:
        yield ""
        yield f"{curve.workload} {curve.label}, {curve.backend}: {found.metric.replace('_', ' ')}"
        for index, one in curve.points.items():
            run = found.runs[index]
            yield f"  {run.time[:10]}  {run.label:8}  {_value(one.estimate, one.unit)}  {run.path}"


def _value(estimate: Estimate, unit: str) -> str:
    def write(value: float) -> str:
        return f"{quantity.number(value)}x" if unit == "x" else quantity.show(value, unit)

    return quantity.estimated(estimate, write=write)


def rows(found: History) -> list[dict[str, Any]]:
    """A row per curve and run, for `plots.history`."""
    return [
        {
            "run": index,
            "commit": found.runs[index].label,
            "panel": f"{curve.workload} {curve.label}",
            "backend": curve.backend,
            "value": one.estimate.value,
            "low": one.estimate.low,
            "high": one.estimate.high,
            "count": one.estimate.count,
        }
        for curve in found.curves
        for index, one in curve.points.items()
    ]


def as_json(found: History) -> dict[str, Any]:
    """For programs."""
    return {
        "machine": found.machine,
        "metric": found.metric,
        "runs": [
            {"path": str(run.path), "commit": run.commit, "dirty": run.dirty, "time": run.time} for run in found.runs
        ],
        "values": rows(found),
    }

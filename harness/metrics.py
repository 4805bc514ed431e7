"""From what a run yields to the values of `measurements.csv`: names, units, formulas. Measures nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workloads.probe import Outcome

# All other metrics are times and sizes.
HIGHER_IS_BETTER = frozenset({"throughput"})
_QUANTILES = {
    "minimum": 0.0,
    "p5": 0.05,
    "p25": 0.25,
    "median": 0.5,
    "p75": 0.75,
    "p95": 0.95,
    "maximum": 1.0,
}


@dataclass(frozen=True)
class Metric:
    """A measured value with its unit; the name is a metric of `measurements.csv`."""

    name: str
    value: float
    unit: str


def units(task: Any) -> dict[str, str]:
    """The metrics of a task and their units, in the order of the rows."""
    noun, _ = _work(task)
    names = {"throughput": f"{noun}s/s", "round_time": "ns"}
    if hasattr(task, "work_seconds"):
        names["overhead"] = "ns"
    return names | {"startup_time": "ns", "peak_rss": "bytes", "cpu_time": f"ns/{noun}"}


def measured(task: Any, outcome: Outcome, cores: float) -> list[Metric]:
    """The metrics of a timed run, except `peak_rss`, which is seen from outside.

    `cores`: how many the whole process tree kept busy over all rounds, warm-up included. `overhead` is what a round
    takes beyond the simulated work, which is counted once, however many workers do it.
    """
    _, per_round = _work(task)
    round_ns = float(np.median(outcome.round_ns))
    values = {
        "throughput": per_round * outcome.rounds / outcome.elapsed_ns * 1e9,
        "round_time": round_ns,
        "startup_time": outcome.startup_ns,
        "cpu_time": cores * outcome.elapsed_ns / (per_round * outcome.rounds),
    }
    if hasattr(task, "work_seconds"):
        values["overhead"] = round_ns - task.work_seconds * 1e9
    return [Metric(name, float(values[name]), unit) for name, unit in units(task).items() if name in values]


def round_quantiles(outcome: Outcome) -> dict[str, float]:
    """How the measured rounds were distributed, in ns."""
    quantiles = np.quantile(outcome.round_ns, list(_QUANTILES.values()))
    return dict(zip(_QUANTILES, quantiles.tolist(), strict=True))


def _work(task: Any) -> tuple[str, float]:
    """What a task's work is counted in, singular, and how much of it a round does."""
    if task.metric == "throughput":
        return task.unit.removesuffix("/s").removesuffix("s"), task.units_per_round
    return "round", 1

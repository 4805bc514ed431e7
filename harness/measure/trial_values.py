"""From a trial's turns to the values of `measurements.csv`, by metric. Measures nothing."""

import math
from statistics import fmean
from typing import Any

from harness.measure.block import Measured
from harness.plan.metrics import work


def measured(task: Any, trial: Measured, workers: int | None) -> dict[str, float]:
    """The values of a trial that has turns, by metric. `workers`: that wait side by side, None for as many as wait.

    `round_time` is the geometric mean over turns of a turn's mean round, so that the ratio of two trials of a block is
    that of neighbouring turns; `throughput` is what it amounts to per second, and `overhead` what it takes beyond the
    simulated work, were that spread evenly over the backend's workers.
    """
    _, per_round = work(task)
    taken = trial.turns.values()
    round_ns = math.exp(fmean(math.log(turn.round_ns) for turn in taken))
    values = {
        "throughput": per_round / round_ns * 1e9,
        "round_time": round_ns,
        "startup_time": trial.startup_ns,
        "peak_rss": trial.peak_bytes,
        "cpu_time": sum(turn.cpu_ns for turn in taken) / sum(turn.rounds for turn in taken) / per_round,
    }
    if hasattr(task, "work_seconds"):
        values["overhead"] = round_ns - ideal_s(task, workers) * 1e9
    return {name: float(value) for name, value in values.items()}


def ideal_s(task: Any, workers: int | None) -> float:
    """How long the simulated work of a round takes on so many workers, where nothing else takes time."""
    waits: int = -(-task.members // (workers or task.members))
    return waits * float(task.work_seconds)

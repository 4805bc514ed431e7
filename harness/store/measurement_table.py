"""`measurements.csv` of a run's directory: one row per metric of one trial, derived from `trials.csv` and the turns."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated, Any

from harness.grouping import grouped
from harness.plan.grid import Point
from harness.plan.metrics import simulated_ns, work
from harness.store.recorded_turns import RecordedTurn
from harness.store.row import Count, Finite, HasStatus, OfTrial, Positive, Text, one_of
from harness.store.status import OK, one_line
from harness.store.table import Table
from harness.store.trial_records import TrialRecord

METRICS = ("throughput", "round_time", "overhead", "startup_time", "peak_rss", "cpu_time")
_POSITIVE, _SIGNED = ("throughput", "round_time"), "overhead"


@dataclass(frozen=True)
class Measurement(OfTrial, HasStatus):
    """One metric of one trial. The fields are the columns, in their order, before the name of the point.

    `started_at`: when the trial began, UTC, ISO 8601. `parameters`: canonical JSON of the point. `value`: None where
    the trial failed. Then `status` is the reason in one line.
    """

    run_id: str
    started_at: str
    workload: Text
    scenario: str
    backend: Text
    actors: Positive | None
    object_bytes: Count | None
    steps_per_message: Positive | None
    minibatch: Positive | None
    workers: Positive | None
    parameters: str
    trial: Count
    metric: Annotated[str, one_of(METRICS)]
    value: Finite | None
    unit: Text
    digest: str
    status: Text

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.value is not None) != (self.status == OK):
            raise ValueError(f"expected a value where the status is {OK}, and only there; got {self.value}")
        if self.metric in _POSITIVE and self.value is not None and self.value <= 0:
            raise ValueError(f"column value: expected a {self.metric} of more than 0, got {self.value:g}")
        if self.metric != _SIGNED and self.value is not None and self.value < 0:
            raise ValueError(f"column value: expected a {self.metric} of 0 or more, got {self.value:g}")

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Trial and metric, which no other row of the file may repeat."""
        return (*self.trial_key, self.metric)

    def failed(self, reason: str) -> "Measurement":
        return replace(self, value=None, status=one_line(reason))


MEASUREMENTS = Table("measurements.csv", Measurement, "remove the line or restore it", "key", "point")


def derived(
    run_id: str, points: Iterable[Point], trials: Iterable[TrialRecord], turns: Iterable[RecordedTurn]
) -> Iterator[Measurement]:
    """The rows of the trials, in their order."""
    known = {point.name: point for point in points}
    taken = grouped((turn for turn in turns if not turn.copy), lambda turn: turn.trial_key)
    for trial in trials:
        point = known[trial.point]
        values = measured(point.task, trial, taken[trial.trial_key]) if trial.ok else {}
        names = ("started_at", "backend", "workers", "trial", "digest", "status")
        common: dict[str, Any] = {"run_id": run_id, **point.columns, **{name: getattr(trial, name) for name in names}}
        for metric, unit in point.units.items():
            yield Measurement(metric=metric, value=values.get(metric), unit=unit, **common)


def measured(task: Any, trial: TrialRecord, turns: Sequence[RecordedTurn]) -> dict[str, float]:
    """The values of a trial by metric.

    `round_time` is the geometric mean of the turns' mean rounds. So the ratio of two trials of a block is that of
    neighbouring turns. `throughput` is the rate that follows from it. `overhead` is the round time beyond the
    simulated work, were that spread evenly over the backend's workers.
    """
    _, per_round = work(task)
    round_ns = math.exp(fmean(math.log(turn.wall_ns / turn.rounds) for turn in turns))
    values = {
        "throughput": per_round / round_ns * 1e9,
        "round_time": round_ns,
        "startup_time": trial.startup_ns or 0,
        "peak_rss": trial.peak_bytes or 0,
        "cpu_time": sum(turn.cpu_ns for turn in turns) / sum(turn.rounds for turn in turns) / per_round,
    }
    if hasattr(task, "work_seconds"):
        values["overhead"] = round_ns - simulated_ns(task, trial.workers)
    return {name: float(value) for name, value in values.items()}

"""How many times as fast one backend is as another at a point: the one estimator of every ratio."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from harness.grouping import grouped
from harness.plan.metrics import HIGHER_IS_BETTER, MAIN_METRICS
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.stats.reference_ceiling import CEILING, ceiling, shares_ceiling
from harness.stats.turn_ratios import by_block
from harness.store import digests
from harness.store.measurement_table import Measurement
from harness.store.recorded_turns import RecordedTurns


class PointRatios:
    """The ratios between the backends of a point by one metric. CEILING stands for its reference ceiling.

    `rows`: of each backend. `trials`: the values of each backend by trial.
    """

    def __init__(self, rows: Sequence[Measurement], taken: RecordedTurns) -> None:
        present = {row.metric: None for row in rows}
        self.metric = next(name for name in (*MAIN_METRICS, *present) if name in present)
        self.rows = grouped(rows, lambda row: row.backend)
        self._point = rows[0].point
        self._taken = taken
        self._faster_is_more = self.metric in HIGHER_IS_BETTER
        # Where one trial computed something else, the others are no result either.
        self.trials = {
            backend: {} if any(digests.is_disagreement(row.status) for row in own) else by_trial(own, self.metric)
            for backend, own in self.rows.items()
        }

    def of(self, backend: str, baseline: str) -> Estimate | None:
        """How many times as fast a backend is as a baseline; None where that was not measured."""
        blocks = self.blocks(backend, baseline)
        return intervals.ratio_of_turns(blocks) if blocks else None

    def blocks(self, backend: str, baseline: str) -> list[list[float]]:
        """Log ratios of neighbouring turns, by block; or of the trials' values, if a block has no such turns.

        A block has none if memory had no room for both backends at once.
        """
        if baseline == CEILING:
            known = {name: values for name, values in self.trials.items() if shares_ceiling(backend, name)}
            baseline = ceiling(known, self._faster_is_more) or ""
        own, other = (self.trials.get(name, {}) for name in (backend, baseline))
        common = sorted(own.keys() & other.keys())
        found: list[list[float]] = []
        if common and self.metric in MAIN_METRICS:
            less = self._uncounted_ns(baseline), self._uncounted_ns(backend)
            found = by_block(self._taken, self._point, (baseline, 0), (backend, 0), common, less)
        # An overhead is a difference, and may come out as nothing: then there is no ratio.
        if len(found) < len(common) and all(own[trial] > 0 and other[trial] > 0 for trial in common):
            sign = 1 if self._faster_is_more else -1
            found = [[sign * math.log(own[trial] / other[trial])] for trial in common]
        return found

    def _uncounted_ns(self, backend: str) -> float:
        """The time that the metric leaves out of a backend's round: of an overhead the simulated work."""
        if self.metric != "overhead":
            return 0.0
        rounds, counted = (by_trial(self.rows[backend], name) for name in ("round_time", self.metric))
        both = rounds.keys() & counted.keys()
        return fmean(rounds[trial] - counted[trial] for trial in both) if both else 0.0


def by_trial(rows: Sequence[Measurement], metric: str) -> Mapping[int, float]:
    """The values of a metric by trial."""
    return {row.trial: row.value for row in rows if row.metric == metric and row.value is not None}

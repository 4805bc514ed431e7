"""The noise floor of a run: a difference below it is undecided.

The blocks of a run have some backends twice. The ratio of two equal backends should be 1, and how far it is from 1
shows which differences are noise.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.grouping import grouped
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.stats.turn_ratios import by_block
from harness.store.measurement_table import Measurement
from harness.store.recorded_turns import RecordedTurns


@dataclass(frozen=True)
class SelfComparison:
    """A backend against itself at one point. The true ratio is 1."""

    point: str
    backend: str
    ratio: Estimate

    @property
    def half_width(self) -> float:
        """From the middle of the interval to its end, as a factor."""
        return math.sqrt(self.ratio.high / self.ratio.low)

    @property
    def distance(self) -> float:
        """How far the ratio is from 1, as a factor of at least 1."""
        return max(self.ratio.value, 1 / self.ratio.value)

    @property
    def contains_one(self) -> bool:
        """Whether the interval is right."""
        return self.ratio.low <= 1 <= self.ratio.high


def of_run(rows: Sequence[Measurement], taken: RecordedTurns) -> Iterator[SelfComparison]:
    """The comparisons of a run: of the backends that some of its blocks had twice."""
    for (point, backend), own in grouped((row for row in rows if row.ok), lambda row: (row.point, row.backend)).items():
        logs = by_block(taken, point, (backend, 0), (backend, 1), [one.trial for one in own])
        if logs:
            yield SelfComparison(point, backend, intervals.ratio_of_turns(logs))


def floor_of(comparisons: Iterable[SelfComparison]) -> float:
    """The factor below which a difference is undecided, from the noisiest comparison. Without any it is 1."""
    return max((one.distance for one in comparisons), default=1.0)

"""Which worker lane is the last of a round, and how late: from spans and the marks between rounds. Records nothing.

A lane is what does one thing at a time: Ray's actor, a worker process, a thread. Where one process holds several
workers, they are one lane; so is the hub's, where it works as one of the workers.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, median_low
from typing import NamedTuple, Self

from harness.breakdown.spans import COMPUTE, Span
from harness.breakdown.table import Row
from harness.grouping import grouped

LANES, STRAGGLER, LAG, LAG_95 = "lanes", "straggler", "lag", "lag_p95"
UNITS = {LANES: "lanes", STRAGGLER: "part of rounds", LAG: "part of a round", LAG_95: "part of a round"}
COLUMNS = ("straggler", "lag")
EXPLAINED = (
    "'straggler': in which part of the rounds the lane that most often ended its computing last did so; even would be "
    "one part of as many as there are lanes. A lane is an actor of Ray's, a worker process or a thread, however many "
    "workers it holds. 'lag': how much later the last lane ended than the median lane (of an even number the earlier "
    "of the two), as a part of the round: the mean, and what 95 % of the rounds do not exceed."
)
_PART = 0.95


class Stragglers(NamedTuple):
    """Of a run's measured rounds: how many lanes computed, in which part of the rounds the one that was most often the
    last was the last, and how much later than the median lane the last one ended, as a part of the round.
    """

    lanes: float
    share: float
    lag: float
    lag_p95: float

    @classmethod
    def of(cls, spans: Iterable[Span], marks: Sequence[int]) -> Self:
        """`marks`: the times in ns at which the first round began and at which each ended. Raises ValueError where no
        worker's code ended in any.
        """
        ends = [_ends_of(own) for own in _by_round(spans, marks)]
        computed = [(of_round, marks[number + 1] - marks[number]) for number, of_round in enumerate(ends) if of_round]
        if not computed:
            raise ValueError("no worker's code ended within a measured round")
        last = Counter(max(sorted(of_round), key=of_round.__getitem__) for of_round, _ in computed)
        lags = sorted((max(found.values()) - median_low(found.values())) / length for found, length in computed)
        return cls(
            lanes=float(len({lane for of_round, _ in computed for lane in of_round})),
            share=max(last.values()) / len(computed),
            lag=fmean(lags),
            lag_p95=lags[math.ceil(_PART * len(lags)) - 1],
        )

    @property
    def cells(self) -> tuple[str, str]:
        """As `COLUMNS`; of a single lane there is nothing to tell."""
        if self.lanes < 2:
            return "-", "-"
        return f"{self.share:.0%} of {self.lanes:.0f}", f"{self.lag:.0%}, 95 %: {self.lag_p95:.0%}"


def medians(rows: Iterable[Row]) -> dict[tuple[tuple[str, str], str], Stragglers]:
    """Over trials, by point and backend; without those of which it is not known, as in older files."""
    values: dict[tuple[tuple[str, str], str], dict[str, list[float]]] = {}
    for row in rows:
        if row.phase in UNITS and row.value is not None:
            values.setdefault((row.point, row.backend), {}).setdefault(row.phase, []).append(row.value)
    return {
        key: Stragglers(*(median(of_phase[name]) for name in UNITS))
        for key, of_phase in values.items()
        if of_phase.keys() == UNITS.keys()
    }


def _by_round(spans: Iterable[Span], marks: Sequence[int]) -> list[list[Span]]:
    """The spans of workers' code, by the round in which they ended."""
    found: list[list[Span]] = [[] for _ in marks[1:]]
    for span in spans:
        if span.kind == COMPUTE and marks[0] < span.ended_ns <= marks[-1]:
            found[bisect_left(marks, span.ended_ns) - 1].append(span)
    return found


def _ends_of(spans: Iterable[Span]) -> Mapping[str, int]:
    """When each lane ended the last of them."""
    return {lane: max(span.ended_ns for span in own) for lane, own in grouped(spans, lambda span: span.lane).items()}

"""Which worker lane is the last of a round, and how late: from spans and the marks between rounds. Records nothing.

A lane is what does one thing at a time: Ray's actor, a worker process, a thread. Where one process holds several
workers, they are one lane; so is the hub's, where it works as one of the workers.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median_low

from harness.grouping import grouped
from harness.store.phase_table import COMPUTE, LAG, LAG_95, LANES, STRAGGLER
from harness.studies.breakdown.spans import LaneSpan

_PART = 0.95


def stragglers(spans: Iterable[LaneSpan], marks: Sequence[int]) -> dict[str, float]:
    """Find how often which lane was the last of a round, and how late. The keys are those of `LANE_UNITS`.

    `marks`: the times in ns at which the first round began and at which each ended. Raises ValueError where no worker's
    code ended in any.
    """
    rounds: list[list[LaneSpan]] = [[] for _ in marks[1:]]
    for span in spans:
        if span.kind == COMPUTE and marks[0] < span.ended_ns <= marks[-1]:
            rounds[bisect_left(marks, span.ended_ns) - 1].append(span)
    last, lags, lanes = Counter[str](), [], set[str]()
    for own, began, ended in zip(rounds, marks[:-1], marks[1:], strict=True):
        ends = {
            lane: max(span.ended_ns for span in of_lane)
            for lane, of_lane in grouped(own, lambda span: span.lane).items()
        }
        if ends:
            lanes |= ends.keys()
            last[max(sorted(ends), key=ends.__getitem__)] += 1
            lags.append((max(ends.values()) - median_low(ends.values())) / (ended - began))
    if not lags:
        raise ValueError("no worker's code ended within a measured round")
    not_exceeded = sorted(lags)[math.ceil(_PART * len(lags)) - 1]
    return {LANES: len(lanes), STRAGGLER: max(last.values()) / len(lags), LAG: fmean(lags), LAG_95: not_exceeded}

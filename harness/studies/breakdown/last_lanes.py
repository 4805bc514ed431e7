"""Which worker lane is the last of a round, and how late: from spans and the marks between rounds. Records nothing.

A lane is what does one thing at a time: Ray's actor, a worker process, a thread. Where one process holds several
workers, they are one lane; so is the hub's, where it works as one of the workers.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median_low

from harness.grouping import grouped
from harness.stats.stragglers import Stragglers
from harness.studies.breakdown.spans import COMPUTE, Span

_PART = 0.95


def stragglers(spans: Iterable[Span], marks: Sequence[int]) -> Stragglers:
    """Find how often which lane was the last of a round.

    `marks`: the times in ns at which the first round began and at which each ended. Raises ValueError where no worker's
    code ended in any.
    """
    ends = [_ends_of(own) for own in _by_round(spans, marks)]
    computed = [(of_round, marks[number + 1] - marks[number]) for number, of_round in enumerate(ends) if of_round]
    if not computed:
        raise ValueError("no worker's code ended within a measured round")
    last = Counter(max(sorted(of_round), key=of_round.__getitem__) for of_round, _ in computed)
    lags = sorted((max(found.values()) - median_low(found.values())) / length for found, length in computed)
    return Stragglers(
        lanes=float(len({lane for of_round, _ in computed for lane in of_round})),
        share=max(last.values()) / len(computed),
        lag=fmean(lags),
        lag_p95=lags[math.ceil(_PART * len(lags)) - 1],
    )


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

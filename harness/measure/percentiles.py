"""Percentiles of a trial's round times, from what its turns counted."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from harness.measure.turn import BIN, Turn


class Percentiles(NamedTuple):
    """Percentiles of round times in ns, to half a percent; None where too few rounds are beyond."""

    p50_ns: float | None
    p95_ns: float | None
    p99_ns: float | None


def of(turns: Iterable[Turn]) -> Percentiles:
    """The percentiles of all rounds of these turns together."""
    counts: Counter[int] = Counter()
    for turn in turns:
        counts.update(turn.durations)
    return Percentiles(*(_percentile(counts, part) for part in (0.5, 0.95, 0.99)))


def _percentile(counts: Counter[int], part: float) -> float | None:
    """The time that this part of the rounds does not exceed, if at least one round does."""
    rank = math.ceil(part * counts.total())
    if rank == counts.total():
        return None
    passed = 0
    for number in sorted(counts):
        passed += counts[number]
        if passed >= rank:
            break
    return math.exp((number + 0.5) * BIN)

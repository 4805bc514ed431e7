"""Percentiles of a trial's round times, from what its turns counted."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from harness.measure.turn import BIN, Turn


def of(turns: Iterable[Turn]) -> dict[str, Any]:
    """The percentiles of all rounds of these turns together, in ns, to half a percent, by the columns of a trial.

    None where too few rounds are beyond.
    """
    counts: Counter[int] = Counter()
    for turn in turns:
        counts.update(turn.durations)
    return {f"p{percent}_ns": _percentile(counts, percent / 100) for percent in (50, 95, 99)}


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

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
    bins = sorted(counts.elements())
    # How many rounds do not exceed each percentile.
    ranks = {f"p{percent}_ns": math.ceil(percent / 100 * len(bins)) for percent in (50, 95, 99)}
    return {name: math.exp((bins[rank - 1] + 0.5) * BIN) if rank < len(bins) else None for name, rank in ranks.items()}

"""Numbers over trials, as tables, doubts and comparisons need them: those of the figures. Knows no file and no row."""

from collections.abc import Sequence
from statistics import fmean, stdev

from plots.intervals import CONFIDENCE, FEW, Estimate, change, holm, least, mean, ratio_of_turns
from plots.intervals import ratio_of_pairs as ratio
from plots.moderated import moderated

__all__ = [
    "CONFIDENCE",
    "FEW",
    "Estimate",
    "change",
    "holm",
    "least",
    "mean",
    "moderated",
    "ratio",
    "ratio_of_turns",
    "variation",
]


def variation(values: Sequence[float]) -> float:
    """Standard deviation as a part of the mean; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    middle, deviation = fmean(values), stdev(values)
    return deviation / abs(middle) if middle else (float("inf") if deviation else 0.0)

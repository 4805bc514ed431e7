"""Numbers over trials, as tables, doubts and comparisons need them. Knows no file and no row.

Medians, ratios and their intervals are those of the figures.
"""

from collections.abc import Sequence
from statistics import fmean, stdev

from plots.intervals import CONFIDENCE, Estimate, change, median
from plots.intervals import ratio_of_pairs as ratio

__all__ = ["CONFIDENCE", "Estimate", "change", "median", "ratio", "variation"]


def variation(values: Sequence[float]) -> float:
    """Standard deviation as a part of the mean; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean, deviation = fmean(values), stdev(values)
    return deviation / abs(mean) if mean else (float("inf") if deviation else 0.0)

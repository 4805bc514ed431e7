"""Medians over trials and their bootstrap intervals. Owns the resampling; draws and reads nothing.

Percentile bootstrap of the median (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13), with a
fixed seed: the same values give the same interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_RESAMPLES = 4000
_TAILS = (2.5, 97.5)


@dataclass(frozen=True)
class Interval:
    """A median with its bootstrap 95 % interval; `low == high == median` where one trial leaves nothing to resample."""

    median: float
    low: float
    high: float
    trials: int

    def scaled(self, factor: float) -> "Interval":
        """The same in another unit."""
        return Interval(self.median * factor, self.low * factor, self.high * factor, self.trials)

    def inverted(self, numerator: float) -> "Interval":
        """`numerator` divided by this, so that a rate becomes the time for `numerator` of its units."""
        return Interval(numerator / self.median, numerator / self.high, numerator / self.low, self.trials)


def median_interval(values: Sequence[float]) -> Interval:
    """The median of one value per trial. Raises ValueError without values."""
    sample = np.asarray(values, dtype=float)
    if sample.size == 0:
        raise ValueError("a median needs at least one value")
    median = float(np.median(sample))
    if sample.size == 1:
        return Interval(median, median, median, 1)
    low, high = np.percentile(np.median(sample[_resamples(sample.size)], axis=1), _TAILS)
    return Interval(median, float(low), float(high), sample.size)


def ratio_interval(numerator: Mapping[int, float], denominator: Mapping[int, float]) -> Interval:
    """The ratio of two medians, from values by trial; trials are resampled in pairs, so that drift of the machine cancels.

    Trials that only one side has don't count. Raises ValueError where no trial has both.
    """
    trials = sorted(numerator.keys() & denominator.keys())
    if not trials:
        raise ValueError("a paired ratio needs at least one trial on both sides")
    above = np.array([numerator[trial] for trial in trials])
    below = np.array([denominator[trial] for trial in trials])
    ratio = float(np.median(above) / np.median(below))
    if len(trials) == 1:
        return Interval(ratio, ratio, ratio, 1)
    picks = _resamples(len(trials))
    ratios = np.median(above[picks], axis=1) / np.median(below[picks], axis=1)
    low, high = np.percentile(ratios, _TAILS)
    return Interval(ratio, float(low), float(high), len(trials))


def _resamples(size: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, size, (_RESAMPLES, size))

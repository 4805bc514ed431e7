"""Numbers over trials: the median, the ratio of two backends, and their bootstrap intervals. Knows no row and
no figure.

The interval is the percentile bootstrap's (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13): trials are drawn anew with replacement, the statistic is taken of each draw, and the interval
holds the middle 95 %. It is seeded, so that the same values give the same interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_TAILS = (0.025, 0.975)
_RESAMPLES = 5_000
_SEED = 20240617

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number over `count` trials with its interval, which is the number itself where there is one trial
    only.
    """

    value: float
    low: float
    high: float
    count: int

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit; `factor` is positive."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.count)

    def inverse(self) -> "Estimate":
        """The estimate of 1 / value, for a positive one: a rate becomes the time per unit."""
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low, self.count)


def median(values: Sequence[float]) -> Estimate:
    """The median of one value per trial, at least one; raises ValueError for none or a number not finite."""
    sample = _checked(values)
    return _estimate(float(np.median(sample)), np.median(sample[_draws(len(sample))], axis=1), len(sample))


def ratio(numerator: Mapping[int, float], denominator: Mapping[int, float]) -> Estimate:
    """The ratio of two medians, from positive values by trial, over the trials that both sides have.

    Trials are drawn in pairs, so that what slowed both sides of a trial widens the interval as little as it
    should. Raises ValueError where no trial has both, and for numbers not finite.
    """
    trials = sorted(numerator.keys() & denominator.keys())
    above = _checked([numerator[trial] for trial in trials])
    below = _checked([denominator[trial] for trial in trials])
    chosen = _draws(len(trials))
    draws = np.median(above[chosen], axis=1) / np.median(below[chosen], axis=1)
    return _estimate(float(np.median(above) / np.median(below)), draws, len(trials))


def _checked(values: Sequence[float]) -> Floats:
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        raise ValueError("expected at least one number")
    if not np.isfinite(sample).all():
        raise ValueError("expected finite numbers")
    return sample


def _draws(count: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng([_SEED, count]).integers(0, count, size=(_RESAMPLES, count))


def _estimate(value: float, draws: Floats, count: int) -> Estimate:
    low, high = np.quantile(draws, _TAILS)
    # Rounding inside the quantile may push a bound past a value that equals it.
    return Estimate(value, min(float(low), value), max(float(high), value), count)

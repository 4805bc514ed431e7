"""Numbers over trials: medians, ratios of two backends, changes of ratios, and their intervals. Knows no row and no
figure. The tables of `harness` take theirs from here, so that a figure and a table never differ.

The interval is the percentile bootstrap's (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13):
trials are drawn anew with replacement, the statistic is taken of each draw, and the interval holds the middle 95 %. It
is seeded, so that the same values give the same interval.

Of few trials that interval is too narrow. It cannot leave the range of what was measured, and the range of 3 trials
holds the true median in 3 of 4 runs only, that of 4 trials in 7 of 8. So each end is moved outwards by a part of the
interval's width, on a logarithmic scale, which a simulation of lognormal trials gave (with outliers and with heavy
tails it needs less); the tests repeat the simulation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
_RESAMPLES = 5_000
_SEED = 20240617
# By the number of trials. A percentile bootstrap's end is one of the values, so that 7 need more than 6.
_WIDENING = {2: 5.5, 3: 0.85, 4: 0.25, 5: 0.07, 6: 0.07, 7: 0.2, 8: 0.1, 9: 0.1}
# A change has the trials of two runs.
_WIDENING_OF_CHANGES = {2: 1.2, 3: 0.15}

Floats = npt.NDArray[np.float64]
Pairs = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Estimate:
    """A number over `count` trials with its interval, which is the number itself where there is one trial only."""

    value: float
    low: float
    high: float
    count: int

    @property
    def spread(self) -> float:
        """Half the interval's width as a part of the value; infinite where the value is 0."""
        if self.high == self.low:
            return 0.0
        return (self.high - self.low) / 2 / abs(self.value) if self.value else float("inf")

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit; `factor` is positive."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.count)

    def inverse(self) -> "Estimate":
        """The estimate of 1 / value, for a positive one: a rate becomes the time per unit."""
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low, self.count)


def median(values: Sequence[float]) -> Estimate:
    """The median of one value per trial, at least one; raises ValueError for none or a number not finite."""
    sample = _checked(values)
    draws = np.median(sample[_draws(len(sample), _SEED)], axis=1)
    return _estimate(float(np.median(sample)), draws, len(sample), _WIDENING)


def ratio(numerator: Mapping[int, float], denominator: Mapping[int, float]) -> Estimate:
    """The ratio of two medians, from positive values by trial, over the trials that both sides have.

    Raises ValueError where no trial has both, and for numbers that are not positive and finite.
    """
    trials = sorted(numerator.keys() & denominator.keys())
    return ratio_of_pairs([numerator[trial] for trial in trials], [denominator[trial] for trial in trials])


def ratio_of_pairs(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """The ratio of two medians over paired trials: element t of both is of the same block.

    Pairs are drawn together, so that what slowed both sides of a trial widens the interval as little as it should.
    Raises ValueError for sequences of different length, none, and numbers that are not positive and finite.
    """
    above, below = _paired(numerators, denominators)
    draws = _ratio_draws(above, below, _SEED)
    return _estimate(float(np.median(above) / np.median(below)), draws, len(above), _WIDENING)


def change(before: Pairs, after: Pairs) -> Estimate:
    """How many times as large a ratio is after as before; each side has numerators and denominators, in pairs.

    The sides are drawn independently: their trials were not run side by side. Raises ValueError as `ratio_of_pairs`
    does.
    """
    old, new = _paired(*before), _paired(*after)
    draws = _ratio_draws(*new, _SEED + 1) / _ratio_draws(*old, _SEED)
    value = ratio_of_pairs(*after).value / ratio_of_pairs(*before).value
    return _estimate(value, draws, min(len(old[0]), len(new[0])), _WIDENING_OF_CHANGES)


def _ratio_draws(above: Floats, below: Floats, seed: int) -> Floats:
    """The ratio of medians of each draw of pairs."""
    chosen = _draws(len(above), seed)
    draws: Floats = np.median(above[chosen], axis=1) / np.median(below[chosen], axis=1)
    return draws


def _paired(numerators: Sequence[float], denominators: Sequence[float]) -> tuple[Floats, Floats]:
    above, below = _checked(numerators), _checked(denominators)
    if len(above) != len(below):
        raise ValueError(f"expected pairs, got {len(above)} numerators and {len(below)} denominators")
    if above.min() <= 0 or below.min() <= 0:
        raise ValueError("expected positive numbers")
    return above, below


def _checked(values: Sequence[float]) -> Floats:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not len(sample):
        raise ValueError("expected at least one number")
    if not np.isfinite(sample).all():
        raise ValueError("expected finite numbers")
    return sample


def _draws(count: int, seed: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng([seed, count]).integers(0, count, size=(_RESAMPLES, count))


def _estimate(value: float, draws: Floats, count: int, widening: Mapping[int, float]) -> Estimate:
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(end) for end in np.quantile(draws, [tail, 1 - tail]))
    low, high = _widened(low, high, widening.get(count, 0.0))
    # Rounding may push a bound past a value that equals it.
    return Estimate(value, min(low, value), max(high, value), count)


def _widened(low: float, high: float, part: float) -> tuple[float, float]:
    """Both ends moved outwards by a part of the width: by a factor, where nothing is zero or negative."""
    if part == 0 or low == high:
        return low, high
    if low <= 0:
        return low - part * (high - low), high + part * (high - low)
    factor = (high / low) ** part
    return low / factor, high * factor

"""Numbers over trials: median, bootstrap interval, ratio of two backends. Knows no file and no row.

The interval is the percentile bootstrap's (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13): trials are drawn anew with replacement, the statistic is taken of each draw, and the interval
holds the middle 95 %. It is seeded, so that a report of the same rows is the same report.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
RESAMPLES = 5_000
_SEED = 20240617

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number over `count` trials with its interval, which is the number itself for a single trial."""

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

    def inverse(self) -> "Estimate":
        """The estimate of 1 / value, for a positive one."""
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low, self.count)


def median(values: Sequence[float], *, seed: int = _SEED) -> Estimate:
    """The median of the values with its interval; raises ValueError for none, or one that isn't finite."""
    sample = _checked(values)
    draws = np.median(sample[_draws(len(sample), seed)], axis=1)
    return _estimate(float(np.median(sample)), draws, len(sample))


def ratio(numerators: Sequence[float], denominators: Sequence[float], *, seed: int = _SEED) -> Estimate:
    """The ratio of two medians over paired trials: element t of both is of the same block.

    Pairs are drawn together, so that what slowed both sides of a trial widens the interval as little as it
    should. Raises ValueError for sequences of different length, none, and numbers that are not positive and
    finite.
    """
    above, below = _paired(numerators, denominators)
    draws = _ratio_draws(numerators, denominators, seed)
    return _estimate(float(np.median(above) / np.median(below)), draws, len(above))


def change(
    before: tuple[Sequence[float], Sequence[float]],
    after: tuple[Sequence[float], Sequence[float]],
    *,
    seed: int = _SEED,
) -> Estimate:
    """How many times as large a ratio is after as before; each side has numerators and denominators, in pairs.

    The sides are drawn independently: their trials were not run side by side. Raises ValueError as `ratio` does.
    """
    old, new = _ratio_draws(*before, seed), _ratio_draws(*after, seed + 1)
    value = ratio(*after).value / ratio(*before).value
    return _estimate(value, new / old, min(len(before[0]), len(after[0])))


def variation(values: Sequence[float]) -> float:
    """Standard deviation as a part of the mean; 0 for fewer than two values."""
    sample = _checked(values)
    if len(sample) < 2:
        return 0.0
    mean = float(np.mean(sample))
    deviation = float(np.std(sample, ddof=1))
    return deviation / abs(mean) if mean else (float("inf") if deviation else 0.0)


def _ratio_draws(numerators: Sequence[float], denominators: Sequence[float], seed: int) -> Floats:
    """The ratio of medians of each draw of pairs."""
    above, below = _paired(numerators, denominators)
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
    return np.random.default_rng([seed, count]).integers(0, count, size=(RESAMPLES, count))


def _estimate(value: float, draws: Floats, count: int) -> Estimate:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    # Rounding inside the quantile may push a bound past a value that equals it.
    return Estimate(value, min(float(low), value), max(float(high), value), count)

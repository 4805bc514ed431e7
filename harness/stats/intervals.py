"""Numbers over trials and their intervals: means, ratios of two backends, and changes of ratios.

A trial is a block of turns in fresh processes. A ratio is, of each block, the mean of the log ratios of neighbouring
turns. The estimate is the mean over blocks, with Student's interval over block means (Biometrika 1908). Of seven and
more blocks it is the trimmed mean (Tukey and McLaughlin, Sankhya A 1963), as one block in some is far off. The turns of
a block have drift, autocorrelation and the memory of its processes in common, so a block is one observation.
Of a single block the interval is over batches of consecutive turns (Law and Kelton, Simulation Modeling and Analysis,
chapter 9). It leaves out what differs from one start to the next, and decides nothing. Where many are judged at once,
p-values are corrected by Holm's method (Scandinavian Journal of Statistics 1979).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean, stdev, variance

from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
FEW = 2  # starts, which alone decide nothing: Student's interval of two spans orders of magnitude
_BATCHES = 6
# Of the trials, at each end: of fewer than seven none.
_TRIMMED = 0.15


@dataclass(frozen=True)
class Estimate:
    """A number over `count` trials with its interval, which is the number itself where it isn't known.

    `error`: one standard error of its logarithm, with this many degrees of `freedom`, or 0 without any.
    """

    value: float
    low: float
    high: float
    count: int
    error: float = field(default=0.0, compare=False)
    freedom: float = field(default=0, compare=False)

    @property
    def decides(self) -> bool:
        """Whether there are enough starts for an interval."""
        return self.count > FEW

    @property
    def p_value(self) -> float:
        """The chance of a ratio at least this far from 1, to either side, where the true one is 1."""
        if not self.freedom or self.value <= 0:
            return 1.0
        if not self.error:
            return 1.0 if self.value == 1 else 0.0
        # That Student's variable lies beyond -t or t.
        return float(2 - 2 * stdtr(self.freedom, abs(math.log(self.value)) / self.error))

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit; `factor` is positive."""
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor)

    def inverse(self) -> "Estimate":
        """The estimate of 1 / value, for a positive one: a rate becomes the time per unit."""
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low)


def mean(values: Sequence[float]) -> Estimate:
    """The mean of one value per trial, at least one: the geometric one where all are positive.

    Raises ValueError for none or a number not finite.
    """
    if not values or not all(map(math.isfinite, values)):
        raise ValueError("expected at least one number, all finite")
    if min(values) > 0:
        # Relative to the first, so that equal ones have their own value exactly.
        return _exponential([math.log(value / values[0]) for value in values]).scaled(values[0])
    middle, error, freedom = _student(values)
    reach = error and error * quantile(CONFIDENCE, freedom)
    return Estimate(middle, middle - reach, middle + reach, len(values))


def ratio_of_turns(blocks: Sequence[Sequence[float]]) -> Estimate:
    """The ratio of two sides from log ratios of neighbouring turns, in order, by block: one at least, none empty."""
    if len(blocks) != 1:
        return _exponential([fmean(block) for block in blocks])
    (turns,) = blocks
    count = min(_BATCHES, len(turns))
    ends = [number * len(turns) // count for number in range(count + 1)]
    of_batches = _exponential([fmean(turns[first:end]) for first, end in pairwise(ends)])
    return replace(of_batches.scaled(math.exp(fmean(turns)) / of_batches.value), count=1)


def change(before: Estimate, after: Estimate) -> Estimate:
    """How many times as large a ratio is after as before.

    The sides are independent, as their blocks were not run side by side. They are taken to vary alike: their variances
    are pooled.
    """
    sides, freedom = (before, after), before.freedom + after.freedom
    squares = sum(one.freedom * (one.freedom + 1) * one.error**2 for one in sides)
    error = math.sqrt(squares / freedom * sum(1 / (one.freedom + 1) for one in sides)) if freedom else 0.0
    return _of_logs(math.log(after.value / before.value), error, freedom, min(before.count, after.count))


def least(ratios: Sequence[Estimate]) -> Estimate:
    """The least of several ratios, at least one, as against the best of several rivals.

    Its interval counts the choice: all intervals hold at once, also the least's. It decides only if each does that may
    be the least.
    """
    wider = at_once(ratios)
    deciding = [one for one in wider if one.decides] or wider
    low, high = min(one.low for one in deciding), min(one.high for one in deciding)
    smallest = min(ratios, key=lambda one: one.value)
    vague = [one.count for one in ratios if not one.decides and one.value <= high]
    return replace(smallest, low=low, high=high, count=min([smallest.count, *vague]))


def at_once(ratios: Sequence[Estimate]) -> list[Estimate]:
    """The ratios with intervals that all hold at once with 95 % confidence (Bonferroni)."""
    chance = 1 - (1 - CONFIDENCE) / max(1, len(ratios))
    return [_of_logs(math.log(one.value), one.error, one.freedom, one.count, chance) for one in ratios]


def variation(values: Sequence[float]) -> float:
    """Standard deviation as a part of the mean; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    middle, deviation = fmean(values), stdev(values)
    return deviation / abs(middle) if middle else (float("inf") if deviation else 0.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number. All those below 0.05 hold at once with 95 % confidence."""
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def quantile(chance: float, freedom: float) -> float:
    """The t for which this chance of Student's distribution lies between -t and t."""
    return float(stdtrit(freedom, (1 + chance) / 2))


def _of_logs(middle: float, error: float, freedom: float, count: int, chance: float = CONFIDENCE) -> Estimate:
    """The estimate from the mean of logarithms over `count` trials and its standard error."""
    reach = min(error and error * quantile(chance, freedom), 300)
    value = math.exp(middle)
    return Estimate(value, value * math.exp(-reach), value * math.exp(reach), count, error, freedom)


def _student(values: Sequence[float]) -> tuple[float, float, int]:
    cut = int(_TRIMMED * len(values))
    kept = sorted(values)[cut : len(values) - cut]
    freedom = len(kept) - 1
    # Of the sample whose ends are pulled in to the nearest that is kept; it has as many as before.
    deviations = variance([kept[0]] * cut + kept + [kept[-1]] * cut) * (len(values) - 1) if freedom else 0.0
    return fmean(kept), math.sqrt(deviations / (len(kept) * freedom)) if freedom else 0.0, freedom


def _exponential(logs: Sequence[float]) -> Estimate:
    return _of_logs(*_student(logs), len(logs))

"""Numbers over trials: means, ratios of two backends, changes of ratios, and their intervals. Knows no row and no
figure. The tables of `harness` take theirs from here, so that a figure and a table differ only where two backends run
in one thread: tables compare these by the CPU time of their turns, figures show the time that passed.

A trial is a block of turns in fresh processes. A ratio is, of each block, the mean of the log ratios of neighbouring
turns, which is the log ratio of the two sides' geometric mean turns; the estimate is the mean over blocks, and its
interval is Student's t over block means (Student, The Probable Error of a Mean, Biometrika 1908), of seven and more
the trimmed one (Tukey and McLaughlin, Sankhya A 1963), as one block in some is far off. So whatever turns of a block
have in common (drift, autocorrelation, the memory in which its processes happen to lie) is one observation, as it must
be, and nothing is assumed of turns beyond that blocks repeat independently. Of a single block the interval is over
batches of consecutive turns (batch means; Law and Kelton, Simulation Modeling and Analysis, chapter 9) and leaves out
what differs from one start to the next. Where many are judged at once, p-values are corrected by Holm's step-down
method (Holm, Scandinavian Journal of Statistics 1979), which holds the chance of any wrong finding. How a run's ratios
help each other where trials are few is in `moderated`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean, stdev, variance

from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
FEW = 2  # trials, which alone decide nothing
_BATCHES = 6
# Of the trials, at each end: of fewer than seven none.
_TRIMMED = 0.15

Pairs = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Estimate:
    """A number over `count` trials with its interval, which is the number itself where it isn't known.

    `error`: of its logarithm, one standard error with so many degrees of `freedom`; 0 where there are none. `logs`: its
    trials' logarithms, in their order, but for a constant. `of_turns`: the variance of a trial that its own turns lead
    to expect, and its degrees of freedom, 0 where nothing is known of turns. `borrows`: from others that were measured
    alike (see `moderated`, whose outcome has neither of the two before).
    """

    value: float
    low: float
    high: float
    count: int
    error: float = field(default=0.0, compare=False)
    freedom: float = field(default=0, compare=False)
    logs: tuple[float, ...] = field(default=(), compare=False, repr=False)
    of_turns: tuple[float, int] = field(default=(0.0, 0), compare=False)
    borrows: bool = field(default=False, compare=False)

    @property
    def variance(self) -> float:
        """Of the logarithm, from trial to trial."""
        return self.error**2 * self.count

    @property
    def decides(self) -> bool:
        """Whether its interval says something: of two trials alone it spans orders of magnitude, of one it leaves out
        what differs from one start to the next.
        """
        return self.count > FEW or self.borrows

    @property
    def p_value(self) -> float:
        """The chance of a ratio at least this far from 1, to either side, where the true one is 1."""
        if not self.freedom or self.value <= 0:
            return 1.0
        if not self.error:
            return 1.0 if self.value == 1 else 0.0
        return 1 - within(abs(math.log(self.value)) / self.error, self.freedom)

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit; `factor` is positive."""
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor)

    def inverse(self) -> "Estimate":
        """The estimate of 1 / value, for a positive one: a rate becomes the time per unit."""
        logs = tuple(-one for one in self.logs)
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low, logs=logs)


def mean(values: Sequence[float]) -> Estimate:
    """The mean of one value per trial, at least one: the geometric one where all are positive.

    Raises ValueError for none or a number not finite.
    """
    if not values or not all(map(math.isfinite, values)):
        raise ValueError("expected at least one number, all finite")
    if min(values) > 0:
        return _geometric(values)
    middle, reach, _, _ = _student(values)
    return Estimate(middle, middle - reach, middle + reach, len(values))


def ratio(numerator: Mapping[int, float], denominator: Mapping[int, float]) -> Estimate:
    """The ratio of two sides, from positive values by trial, over the trials that both have.

    Raises ValueError where no trial has both, and for numbers that are not positive and finite.
    """
    trials = sorted(numerator.keys() & denominator.keys())
    return ratio_of_pairs([numerator[trial] for trial in trials], [denominator[trial] for trial in trials])


def ratio_of_pairs(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """The ratio of two sides over paired trials: element t of both is of the same block.

    Raises ValueError for sequences of different length, none, and numbers that are not positive and finite.
    """
    return _geometric([above / below for above, below in _paired(numerators, denominators)])


def ratio_of_turns(blocks: Sequence[Sequence[float]]) -> Estimate:
    """The ratio of two sides from log ratios of neighbouring turns, in order, by block; none of them empty.

    Raises ValueError without a block.
    """
    several = [block for block in blocks if len(block) > 1]
    expected = fmean(variance(block) / len(block) for block in several) if several else 0.0
    of_turns = expected, sum(len(block) - 1 for block in several)
    if len(blocks) != 1:
        return replace(_exponential([fmean(block) for block in blocks]), of_turns=of_turns)
    (turns,) = blocks
    count = min(_BATCHES, len(turns))
    ends = [number * len(turns) // count for number in range(count + 1)]
    of_batches = _exponential([fmean(turns[first:end]) for first, end in pairwise(ends)])
    moved = of_batches.scaled(math.exp(fmean(turns)) / of_batches.value)
    return replace(moved, count=1, logs=(fmean(turns),), of_turns=of_turns)


def change(before: Pairs, after: Pairs) -> Estimate:
    """How many times as large a ratio is after as before; each side has numerators and denominators, in pairs.

    The sides are independent: their trials were not run side by side; they are taken to vary alike. Raises ValueError
    as `ratio_of_pairs` does.
    """
    old, new = ([math.log(above / below) for above, below in _paired(*side)] for side in (before, after))
    freedom = len(old) + len(new) - 2
    squares = sum(variance(side) * (len(side) - 1) for side in (old, new) if len(side) > 1)
    error = math.sqrt(squares / freedom * (1 / len(old) + 1 / len(new))) if freedom else 0.0
    return of_logs(fmean(new) - fmean(old), error, freedom, min(len(old), len(new)))


def least(ratios: Sequence[Estimate]) -> Estimate:
    """The least of several ratios, at least one, as against the best of several rivals.

    Its interval counts the choice: each ratio's own holds at a confidence corrected for their number (Bonferroni), so
    that all of them hold at once, and with them the least's, whichever it really is. It decides only if each does that
    may be the least.
    """
    chance = 1 - (1 - CONFIDENCE) / len(ratios)
    wider = [of_logs(math.log(one.value), one.error, one.freedom, one.count, chance) for one in ratios]
    deciding = [one.high for one, ratio in zip(wider, ratios, strict=True) if ratio.decides]
    high = min(deciding or [one.high for one in wider])
    smallest = min(ratios, key=lambda one: one.value)
    vague = [one for one in ratios if not one.decides and one.value <= high]
    found = replace(smallest, low=min(one.low for one in wider), high=high)
    return replace(found, count=min(one.count for one in vague), borrows=False) if vague else found


def variation(values: Sequence[float]) -> float:
    """Standard deviation as a part of the mean; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    middle, deviation = fmean(values), stdev(values)
    return deviation / abs(middle) if middle else (float("inf") if deviation else 0.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number: what is below 0.05 is so with 95 % confidence in all of them at once."""
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def within(t: float, freedom: float) -> float:
    """The chance that a variable of Student's distribution lies between -t and t, for t of at least 0."""
    return float(2 * stdtr(freedom, t) - 1)


def quantile(chance: float, freedom: float) -> float:
    """The t for which this chance of Student's distribution lies between -t and t."""
    return float(stdtrit(freedom, (1 + chance) / 2))


def of_logs(middle: float, error: float, freedom: float, count: int, chance: float = CONFIDENCE) -> Estimate:
    """What the logarithm's mean over `count` trials and its standard error say."""
    reach = error and error * quantile(chance, freedom)
    value = math.exp(middle)
    return Estimate(value, value * math.exp(-min(reach, 300)), value * math.exp(min(reach, 300)), count, error, freedom)


def _paired(numerators: Sequence[float], denominators: Sequence[float]) -> list[tuple[float, float]]:
    if len(numerators) != len(denominators) or not numerators:
        raise ValueError(f"expected pairs, got {len(numerators)} numerators and {len(denominators)} denominators")
    if not all(0 < value < math.inf for value in (*numerators, *denominators)):
        raise ValueError("expected positive, finite numbers")
    return list(zip(numerators, denominators, strict=True))


def _student(values: Sequence[float]) -> tuple[float, float, float, int]:
    """The trimmed mean, how far its interval reaches, its standard error and the degrees of freedom."""
    if not values:
        raise ValueError("expected at least one number")
    cut = int(_TRIMMED * len(values))
    kept = sorted(values)[cut : len(values) - cut]
    freedom = len(kept) - 1
    # Of the sample whose ends are pulled in to the nearest that is kept; it has as many as before.
    deviations = variance([kept[0]] * cut + kept + [kept[-1]] * cut) * (len(values) - 1) if freedom else 0.0
    error = math.sqrt(deviations / (len(kept) * freedom)) if freedom else 0.0
    return fmean(kept), error and error * quantile(CONFIDENCE, freedom), error, freedom


def _geometric(values: Sequence[float]) -> Estimate:
    """Of values relative to the first, so that equal ones have their own value exactly."""
    return _exponential([math.log(value / values[0]) for value in values]).scaled(values[0])


def _exponential(logs: Sequence[float]) -> Estimate:
    middle, _, error, freedom = _student(logs)
    return replace(of_logs(middle, error, freedom, len(logs)), logs=tuple(logs))

"""Intervals of numbers that were measured alike, from few trials each: what one says of how much starts differ helps
with the others.

Of two trials alone, Student's interval spans orders of magnitude, as how much starts differ is hardly known. But a run
has many ratios. Their variances are taken to be drawn from one distribution, whose middle and spread the run itself
shows, and each is moderated towards its middle: the more, the less they differ among each other (Smyth, Linear Models
and Empirical Bayes Methods, Statistical Applications in Genetics and Molecular Biology 2004; limma's `squeezeVar`). So
95 of 100 intervals of a run hold, rather than of each number by itself: one that varies much more than the others has
less. Therefore none is taken to vary less than its own trials do.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, median, variance
from typing import TypeVar

from plots.intervals import Estimate, of_logs

FEWEST = 3  # variances, of which something is known of their distribution
_EXACT = 1e-9  # an error that is rounding: a ratio to itself has no other
_LEAST = 1e-5  # of the middle one: a variance of nothing is chance

Key = TypeVar("Key")


def moderated(estimates: Mapping[Key, Estimate]) -> dict[Key, Estimate]:
    """The same with intervals that take all into account; as they are, where too few have several trials.

    Those of a single trial get one, too: of what differs from start to start, they know from the others alone.
    """
    own = {key: one for key, one in estimates.items() if one.count > 1 and one.error > _EXACT}
    if len(own) < FEWEST:
        return dict(estimates)
    middle, freedom = _prior(list(own.values()))
    most = sum(one.freedom for one in own.values())
    found = dict(estimates)
    for key, one in estimates.items():
        if key in own:
            known = min(freedom + one.freedom, most)
            weight = 1.0 if math.isinf(freedom) else freedom / (freedom + one.freedom)
            spread = max(one.variance, weight * middle + (1 - weight) * one.variance)
        elif one.count == 1 and one.value > 0:
            known, spread = min(freedom, most), middle
        else:
            continue
        if known >= 1:
            told = of_logs(math.log(one.value), math.sqrt(spread / one.count), known, one.count)
            low, high = min(told.low, one.value), max(told.high, one.value)
            found[key] = replace(told, value=one.value, low=low, high=high, borrows=True)
    return found


def _prior(estimates: list[Estimate]) -> tuple[float, float]:
    """The middle of the distribution of variances, and how many degrees of freedom knowing it is worth."""
    least = _LEAST * median(one.variance for one in estimates)
    centred = [
        math.log(max(one.variance, least)) - _digamma(one.freedom / 2) + math.log(one.freedom / 2) for one in estimates
    ]
    beyond_chance = variance(centred) - fmean(_trigamma(one.freedom / 2) for one in estimates)
    if beyond_chance <= 0:
        return math.exp(fmean(centred)), math.inf
    half = _trigamma_inverse(beyond_chance)
    return math.exp(fmean(centred) + _digamma(half) - math.log(half)), 2 * half


# The derivatives of the logarithm of the gamma function: Abramowitz and Stegun, 6.3.5, 6.3.18, 6.4.6 and 6.4.12.


def _digamma(x: float) -> float:
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return shift + math.log(x) - 1 / (2 * x) - series


def _trigamma(x: float) -> float:
    shift = 0.0
    while x < 6:
        shift += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    return shift + 1 / x + square / 2 + square / x * (1 / 6 - square * (1 / 30 - square / 42))


def _trigamma_inverse(value: float) -> float:
    low, high = 1e-4, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return math.sqrt(low * high)

"""Intervals of numbers that were measured alike, from few trials each: what one says of how much starts differ helps
with the others.

Of two trials alone, Student's interval spans orders of magnitude, as how much starts differ is hardly known. But a run
has many ratios. Their variances are taken to be drawn from one distribution, whose middle and spread the run itself
shows, and each is moderated towards its middle: the more, the less they differ among each other (Smyth, Linear Models
and Empirical Bayes Methods, Statistical Applications in Genetics and Molecular Biology 2004; limma's `squeezeVar`). So
95 of 100 intervals of a run hold, rather than of each number by itself: one that varies much more than the others has
less. Therefore none is taken to vary less than its own trials do.

What is moderated is a variance as a part of the one that the turns within the blocks lead to expect, where these are
known, for some backends' turns vary much more than others'; limma's `trend` does so, too. That expectation, of few
turns, is moderated by those of the others first.

Smyth takes the distribution from the moments of the variances' logarithms, which says little where each is of one
degree of freedom: any spread may come out of forty. Here it comes from how likely it makes the variances, whose ratios
to its middle then follow an F distribution: of every spread this likelihood, and the mean of all with that weight.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import mul
from typing import TypeVar

from plots.intervals import Estimate, of_logs

FEWEST = 3  # variances, of which something is known of their distribution
_EXACT = 1e-9  # an error that is rounding: a ratio to itself has no other
_SPREADS = tuple((number + 0.5) / 20 for number in range(20))  # of variances: one over the degrees of freedom

Key = TypeVar("Key")
Within = TypeVar("Within")


def moderated(estimates: Mapping[Key, Estimate]) -> dict[Key, Estimate]:
    """The same with intervals that take all into account; as they are, where too few have several trials.

    Those of a single trial get one, too: of what differs from start to start, they know from the others alone.
    """
    own = {key: one for key, one in estimates.items() if one.count > 1 and one.error > _EXACT}
    if len(own) < FEWEST:
        return dict(estimates)
    expected = _expected(estimates)
    middle, freedom = _prior([(one.variance / expected[key], one.freedom) for key, one in own.items()])
    most = sum(one.freedom for one in own.values())
    found = dict(estimates)
    for key, one in estimates.items():
        if key in own:
            known, weight = min(freedom + one.freedom, most), freedom / (freedom + one.freedom)
            spread = max(one.variance, weight * middle * expected[key] + (1 - weight) * one.variance)
        elif one.count == 1 and one.value > 0:
            known, spread = min(freedom, most), middle * expected[key]
        else:
            continue
        told = of_logs(math.log(one.value), math.sqrt(spread / one.count), known, one.count)
        low, high = min(told.low, one.value), max(told.high, one.value)
        found[key] = replace(told, value=one.value, low=low, high=high, borrows=True)
    return found


def nested(estimates: Mapping[tuple[Key, Within], Estimate]) -> dict[Key, dict[Within, Estimate]]:
    """The same by the first part of their keys, and below that by the second."""
    found: dict[Key, dict[Within, Estimate]] = {}
    for (key, within), estimate in estimates.items():
        found.setdefault(key, {})[within] = estimate
    return found


def _expected(estimates: Mapping[Key, Estimate]) -> dict[Key, float]:
    """Of each the variance that its turns lead to expect; the same of all where too few know of turns."""
    known = {key: one.of_turns for key, one in estimates.items() if one.of_turns[0] > _EXACT**2}
    if len(known) < FEWEST:
        return dict.fromkeys(estimates, 1.0)
    middle, prior = _prior(list(known.values()))
    own = {key: (prior * middle + freedom * of_turns) / (prior + freedom) for key, (of_turns, freedom) in known.items()}
    return dict.fromkeys(estimates, middle) | own


def _prior(known: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The middle of the distribution of variances, of which these are known with so many degrees of freedom each; and
    how many degrees of freedom knowing it is worth.
    """
    likely = [_log_likelihood(known, _middle(known, spread), spread) for spread in _SPREADS]
    weights = [math.exp(one - max(likely)) for one in likely]
    spread = math.fsum(map(mul, weights, _SPREADS)) / math.fsum(weights)
    return _middle(known, spread), 1 / spread


def _log_likelihood(known: Sequence[tuple[float, float]], middle: float, spread: float) -> float:
    """Of these variances and their degrees of freedom, but for what does not depend on the distribution."""
    return math.fsum(
        math.lgamma((freedom + 1 / spread) / 2)
        - math.lgamma(1 / spread / 2)
        + freedom / 2 * math.log(freedom * spread / middle)
        - (freedom + 1 / spread) / 2 * math.log1p(freedom * spread * variance / middle)
        for variance, freedom in known
    )


def _middle(known: Sequence[tuple[float, float]], spread: float) -> float:
    """The one that makes these most likely: where the likelihood's slope, which falls, is 0."""
    low, high = min(known)[0], max(known)[0]
    for _ in range(50):
        middle = math.sqrt(low * high)
        slope = math.fsum(
            freedom * (variance - middle) / (middle + freedom * spread * variance) for variance, freedom in known
        )
        low, high = (middle, high) if slope > 0 else (low, middle)
    return math.sqrt(low * high)

"""Intervals of numbers that were measured alike, from few trials each: what one says of how much starts differ helps
with the others.

Of two trials alone, Student's interval spans orders of magnitude, as how much starts differ is hardly known. But a run
has many ratios. Their variances are taken to be drawn from one distribution, whose middle and spread the run itself
shows, and each is moderated towards its middle: the more, the less they differ among each other (Smyth, Linear Models
and Empirical Bayes Methods, Statistical Applications in Genetics and Molecular Biology 2004; limma's `squeezeVar`). So
95 of 100 intervals of a run hold, rather than of each number by itself: one that varies much more than the others has
less. Therefore none is taken to vary less than its own trials do.

Ratios of one point share the starts of their baseline. Where these are most of what varies, their variances are hardly
more than one observation: of k whose logarithms correlate with r, each counts as 1 / (1 + (k - 1) r^2), as the
variances of normal variables correlate with the square (the design effect; Kish, Survey Sampling, 1965). Of few blocks
r is known badly, and found low just where it harms: where the baseline's starts happened to be alike. So it is found
over all points together, and drawn towards 1, as if further blocks had shown that.

What is moderated is a variance as a part of the one that the turns within the blocks lead to expect, where these are
known, for some backends' turns vary much more than others'; limma's `trend` does so, too. That expectation, of few
turns, is moderated by those of the others first.

Smyth takes the distribution from the moments of the variances' logarithms, which says little where each is of one
degree of freedom: any spread may come out of forty. Here it comes from how likely it makes the variances, whose ratios
to its middle then follow an F distribution: of every spread this likelihood, and the mean of all with that weight.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from operator import mul
from statistics import fmean
from typing import TypeVar

from harness.stats.intervals import Estimate, of_logs

FEWEST = 3  # variances, of which something is known of their distribution
_EXACT = 1e-9  # an error that is rounding
_FULLY = 2  # further blocks that are taken to have shown a correlation of 1
_SPREADS = tuple((number + 0.5) / 20 for number in range(20))  # of variances: one over the degrees of freedom

Key = TypeVar("Key")
Within = TypeVar("Within")
Known = tuple[float, float, float]  # a variance, its degrees of freedom, and as how much of an observation it counts


def _together(_key: object) -> Hashable:
    return None


def moderated(estimates: Mapping[Key, Estimate], point: Callable[[Key], Hashable] = _together) -> dict[Key, Estimate]:
    """The same with intervals that take all into account; as they are, where too few have several trials.

    `point`: of a number; those of one point share a baseline and its blocks. A ratio of something to itself, which is
    known without measuring, must not be among them.

    Those of a single trial get one, too: of what differs from start to start, they know from the others alone. Where
    turns are known, a number without is of another kind, and stays as it is.
    """
    expected = _expected(estimates)
    own = {key: estimates[key] for key in expected if estimates[key].count > 1 and estimates[key].freedom}
    if len(own) < FEWEST or not any(map(_variance, own.values())):
        return dict(estimates)
    counts = _counts(own, expected, point)
    middle, freedom = _prior([(_variance(one) / expected[key], one.freedom, counts[key]) for key, one in own.items()])
    most = max(1.0, sum(one.freedom * counts[key] for key, one in own.items()))
    found = dict(estimates)
    for key in expected:
        one = estimates[key]
        if key in own:
            known, weight = min(freedom + one.freedom, max(most, one.freedom)), freedom / (freedom + one.freedom)
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


def _variance(one: Estimate) -> float:
    """From trial to trial, without rounding: blocks may be equal."""
    return one.variance if one.error > _EXACT else 0.0


def _expected(estimates: Mapping[Key, Estimate]) -> dict[Key, float]:
    """Of each the variance that its turns lead to expect, without those that have none; the same of all where too few
    have turns.
    """
    known = {key: one.of_turns for key, one in estimates.items() if one.of_turns[1]}
    if sum(of_turns > 0 for of_turns, _ in known.values()) < FEWEST:
        return dict.fromkeys(estimates, 1.0)
    middle, prior = _prior([(*of_turns, 1.0) for of_turns in known.values()])
    return {
        key: (prior * middle + freedom * of_turns) / (prior + freedom) for key, (of_turns, freedom) in known.items()
    }


def _counts(
    own: Mapping[Key, Estimate], expected: Mapping[Key, float], point: Callable[[Key], Hashable]
) -> dict[Key, float]:
    """As how much of an observation the variance of each counts, beside those of its point.

    Blocks are told by their order: where backends have failed in different ones, too little is shared.
    """
    members: dict[Hashable, list[Key]] = {}
    for key in own:
        members.setdefault(point(key), []).append(key)
    shared = total = 0.0
    blocks = 0
    for keys in members.values():
        several = max(len(own[key].logs) for key in keys)
        found = [_deviations(own[key].logs, expected[key]) for key in keys if len(own[key].logs) == several]
        if len(found) > 1:
            squares = math.fsum(one * one for deviations in found for one in deviations)
            shared += (math.fsum(math.fsum(block) ** 2 for block in zip(*found, strict=True)) - squares) / (
                len(found) - 1
            )
            total += squares
            blocks += several - 1
    correlation = (_FULLY + blocks * (max(0.0, shared / total) if total else 1.0)) / (_FULLY + blocks)
    return {key: 1 / (1 + (len(keys) - 1) * correlation**2) for keys in members.values() for key in keys}


def _deviations(logs: Sequence[float], expected: float) -> list[float]:
    middle = fmean(logs)
    return [(one - middle) / math.sqrt(expected) for one in logs]


def _prior(known: Sequence[Known]) -> tuple[float, float]:
    """The middle of the distribution of these variances, and how many degrees of freedom knowing it is worth."""
    likely = [_log_likelihood(known, _middle(known, spread), spread) for spread in _SPREADS]
    weights = [math.exp(one - max(likely)) for one in likely]
    spread = math.fsum(map(mul, weights, _SPREADS)) / math.fsum(weights)
    return _middle(known, spread), 1 / spread


def _log_likelihood(known: Sequence[Known], middle: float, spread: float) -> float:
    """Of these variances, but for what does not depend on the distribution."""
    return math.fsum(
        counts
        * (
            math.lgamma((freedom + 1 / spread) / 2)
            - math.lgamma(1 / spread / 2)
            + freedom / 2 * math.log(freedom * spread / middle)
            - (freedom + 1 / spread) / 2 * math.log1p(freedom * spread * variance / middle)
        )
        for variance, freedom, counts in known
    )


def _middle(known: Sequence[Known], spread: float) -> float:
    """The one that makes these most likely: where the likelihood's slope, which falls, is 0; no less than the least
    that is not 0.
    """
    low, high = min(variance for variance, _, _ in known if variance), max(known)[0]
    for _ in range(50):
        middle = math.sqrt(low * high)
        slope = math.fsum(
            counts * freedom * (variance - middle) / (middle + freedom * spread * variance)
            for variance, freedom, counts in known
        )
        low, high = (middle, high) if slope > 0 else (low, middle)
    return math.sqrt(low * high)

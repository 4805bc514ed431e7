"""Intervals of few trials that help each other: they hold at their rate, and are as narrow as that allows."""

import math
import random
from operator import itemgetter
from statistics import fmean, median

import pytest

from harness.stats.intervals import Estimate, ratio, ratio_of_turns
from harness.stats.moderated import _counts, _prior, moderated
from tests.choice import first


def by_itself(key):
    """The point of numbers that share nothing."""
    return key


def measured(deviations, trials, rng):
    """Estimates of ratios that are 1, whose blocks differ by these standard deviations."""
    return {
        number: ratio_of_turns([[rng.gauss(0, deviation)] for _ in range(trials)])
        for number, deviation in enumerate(deviations)
    }


def rates(deviations, trials, runs=200):
    """How many of the intervals hold, of each of the numbers; and how narrow they are in the middle, to their own."""
    rng = random.Random(5)
    held, narrower = [[] for _ in deviations], []
    for _ in range(runs):
        own = measured(deviations, trials, rng)
        for number, one in moderated(own, by_itself).items():
            held[number].append(one.low <= 1 <= one.high)
            narrower.append(math.log(one.high) / math.log(own[number].high))
    return [fmean(of_number) for of_number in held], median(narrower)


@pytest.mark.parametrize("trials", first(1, [2, 3], "thousands of intervals; of two trials they are always counted"))
@pytest.mark.parametrize(
    ("deviations", "least"),
    [([0.1] * 12, 0.9), ([0.1] * 9 + [0.3] * 3, 0.78), ([0.05] * 11 + [0.3], 0.7)],
    ids=["alike", "two kinds", "one that varies"],
)
def test_intervals_hold_at_their_rate_and_are_narrower_than_alone(trials, deviations, least):
    held, narrower = rates(deviations, trials)
    assert fmean(held) > 0.94
    assert min(held) > least
    assert narrower < (0.5 if trials == 2 else 0.9)


def test_intervals_hold_where_ratios_share_their_baseline_and_half_have_a_single_trial():
    rng = random.Random(3)
    held = []
    for _ in range(60):
        found = {}
        for point in range(8):
            shared = [rng.gauss(0, 0.02) for _ in range(1 + point % 2)]
            for backend, deviation in enumerate([0.01, 0.02, 0.02, 0.03, 0.05]):
                starts = [of_baseline + rng.gauss(0, deviation) for of_baseline in shared]
                blocks = [[start + rng.gauss(0, 0.08) for _ in range(24)] for start in starts]
                found[point, backend] = ratio_of_turns(blocks)
        held += [one.low <= 1 <= one.high for one in moderated(found, itemgetter(0)).values()]
    assert fmean(held) > 0.94


def of_points(points, blocks, share, rng, own=0.03, backends=8):
    """Ratios that are 1: so much of the variance of a block's mean is its baseline's."""
    found = {}
    for point in range(points):
        shared = [rng.gauss(0, own * math.sqrt(share / (1 - share))) for _ in range(blocks)]
        for backend in range(backends):
            starts = [of_baseline + rng.gauss(0, own) for of_baseline in shared]
            found[point, backend] = ratio_of_turns([[start + rng.gauss(0, own) for _ in range(8)] for start in starts])
    return found


@pytest.mark.parametrize(
    ("points", "blocks", "share", "runs"),
    first(
        2,
        [
            (1, 2, 0.9, 300),
            (1, 3, 0.9, 300),
            *(
                (points, blocks, share, 800 // points)
                for points in (1, 8)
                for blocks in (2, 3, 5)
                for share in (0, 0.5, 0.9)
            ),
        ],
        "thousands of intervals; of one point and a baseline that varies most they are always counted",
    ),
)
def test_intervals_hold_where_most_of_what_varies_is_the_baseline_that_all_share(points, blocks, share, runs):
    rng, held = random.Random(8), []
    for _ in range(runs):
        found = moderated(of_points(points, blocks, share, rng), itemgetter(0))
        held += [one.low <= 1 <= one.high for one in found.values()]
    # Of two blocks at one point hardly anything is known of what they share, and the worst is assumed.
    assert 0.93 < fmean(held) < (0.97 if blocks > 2 or points > 1 else 1)


@pytest.mark.parametrize(("share", "at_least", "at_most"), [(0, 7, 8), (0.5, 1.5, 4), (0.99, 1, 1.1)])
def test_ratios_of_a_point_count_for_less_the_more_their_baseline_varies(share, at_least, at_most):
    rng, found = random.Random(9), []
    for _ in range(20):
        own = of_points(1, 40, share, rng)
        found.append(sum(_counts(own, dict.fromkeys(own, 1.0), itemgetter(0)).values()))
    assert at_least < median(found) < at_most


def test_a_baseline_of_two_blocks_is_never_believed_not_to_vary():
    alike = {0: ratio_of_turns([[1.0], [-1.0]]), 1: ratio_of_turns([[-1.0], [1.0]])}
    assert list(_counts(alike, dict.fromkeys(alike, 1.0), lambda _: 0).values()) == [pytest.approx(1 / (1 + 4 / 9))] * 2


def test_blocks_that_are_equal_are_no_reason_to_believe_that_all_would_be():
    estimates = {**measured([0.1] * 6, 3, random.Random(1)), "equal": ratio_of_turns([[0.2], [0.2], [0.2]])}
    equal = moderated(estimates, by_itself)["equal"]
    assert equal.borrows
    assert 1.02 < equal.high / equal.value < 1.5
    assert equal.value / equal.low == pytest.approx(equal.high / equal.value)


def test_where_turns_are_known_a_number_without_them_is_neither_lender_nor_borrower():
    rng = random.Random(5)
    known = {number: ratio_of_turns([[rng.gauss(0, 0.1) for _ in range(8)] for _ in range(3)]) for number in range(8)}
    without = {
        "one trial": ratio({0: 1.2}, {0: 1.0}),
        "three": ratio({0: 5.0, 1: 1.0, 2: 7.0}, dict.fromkeys(range(3), 1.0)),
    }
    found = moderated({**known, **without}, by_itself)
    assert {key: found[key] for key in without} == without
    assert not any(found[key].borrows for key in without)
    assert not found["one trial"].decides
    assert {key: found[key] for key in known} == moderated(known, by_itself)


def test_one_of_a_single_trial_learns_from_the_others():
    rng = random.Random(2)
    several = measured([0.1] * 8, 3, rng)
    alone = ratio_of_turns([[0.5 + rng.gauss(0, 0.001) for _ in range(60)]])
    found = moderated({**several, "alone": alone})["alone"]
    assert found.value == alone.value
    assert found.borrows
    assert not alone.borrows
    assert math.log(alone.high / alone.value) < 0.01  # of turns, which say nothing of starts
    assert 0.1 < math.log(found.high / found.value) < 1


def test_too_few_are_left_as_they_are():
    two = measured([0.1, 0.1], 3, random.Random(1))
    assert moderated(two) == two
    exact = {number: Estimate(1.0, 1.0, 1.0, 3) for number in range(5)}
    assert moderated(exact) == exact
    assert moderated({}) == {}


def test_none_varies_less_than_its_own_trials_do():
    estimates = {**measured([0.01] * 8, 4, random.Random(3)), "wild": ratio_of_turns([[-1.0], [1.0], [-0.8], [0.9]])}
    wild = moderated(estimates)["wild"]
    assert wild.error == pytest.approx(estimates["wild"].error)
    assert wild.low < 1 < wild.high


def test_order_and_names_change_nothing():
    estimates = measured([0.1, 0.2, 0.3, 0.1], 3, random.Random(4))
    backwards = moderated(dict(reversed(estimates.items())))
    for key, one in moderated(estimates).items():
        assert (one.value, one.count) == (backwards[key].value, backwards[key].count)
        assert (one.low, one.high) == pytest.approx((backwards[key].low, backwards[key].high))


def test_one_whose_turns_vary_more_has_the_wider_interval_and_all_hold():
    rng, held, widths = random.Random(7), {0.01: [], 0.1: []}, {0.01: [], 0.1: []}
    for _ in range(40):
        found = {}
        for number, deviation in enumerate([0.01, 0.1] * 15):
            blocks = [[rng.gauss(0, deviation) for _ in range(8)] for _ in range(1 + number % 3 // 2)]
            found[deviation, number] = ratio_of_turns(blocks)
        for (deviation, _), one in moderated(found, by_itself).items():
            held[deviation].append(one.low <= 1 <= one.high)
            widths[deviation].append(math.log(one.high / one.low))
    assert 0.93 < fmean(held[0.01]) < 0.98
    assert 0.93 < fmean(held[0.1]) < 0.98
    assert 5 < median(widths[0.1]) / median(widths[0.01]) < 15


@pytest.mark.parametrize(("freedom", "at_least", "at_most"), [(3, 1.5, 4.5), (1000, 5, 40)])
def test_how_much_variances_differ_is_seen_in_forty_of_one_degree_of_freedom(freedom, at_least, at_most):
    rng, found = random.Random(6), []
    for _ in range(40):
        middles = [0.01 * freedom / rng.gammavariate(freedom / 2, 2) for _ in range(40)]
        found.append(_prior([(rng.gauss(0, math.sqrt(middle)) ** 2, 1, 1.0) for middle in middles]))
    assert math.exp(fmean(math.log(middle) for middle, _ in found)) == pytest.approx(0.01, rel=0.4)
    assert at_least < median(known for _, known in found) < at_most

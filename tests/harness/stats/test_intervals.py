"""Means, ratios and their intervals."""

import pytest

from harness.stats.intervals import Estimate, mean, ratio


def test_one_trial_has_no_interval():
    assert mean([4.0]) == Estimate(*[pytest.approx(4.0)] * 3, 1)


def test_drift_that_slows_both_sides_leaves_no_interval_in_the_ratio():
    slow = {0: 10.0, 1: 20.0, 2: 30.0}
    fast = {0: 1.0, 1: 2.0, 2: 3.0}
    assert ratio(slow, fast) == Estimate(*[pytest.approx(10.0)] * 3, 3)


def test_a_ratio_counts_the_trials_that_both_sides_have():
    assert ratio({0: 2.0, 1: 900.0}, {0: 1.0, 2: 50.0}) == Estimate(*[pytest.approx(2.0)] * 3, 1)


def test_a_rate_becomes_the_time_for_many_units():
    time = Estimate(50.0, 40.0, 80.0, 3).inverse().scaled(200.0)
    assert time == Estimate(4.0, 2.5, 5.0, 3)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_nothing_and_no_numbers_are_refused(values):
    with pytest.raises(ValueError, match="expected"):
        mean(values)


def test_trials_without_a_pair_are_refused():
    with pytest.raises(ValueError, match="pairs"):
        ratio({0: 1.0}, {1: 1.0})

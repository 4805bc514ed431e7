"""Estimates over trials: known answers, and what must hold for any sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import stats

positive = st.floats(1e-3, 1e9)
samples = st.lists(positive, min_size=1, max_size=12)
pairs = st.lists(st.tuples(positive, positive), min_size=1, max_size=12)


def test_the_median_of_one_trial_has_no_interval():
    assert stats.median([7.0]) == stats.Estimate(7.0, 7.0, 7.0, 1)


def test_equal_trials_have_an_interval_of_no_width():
    assert stats.median([3.0] * 6) == stats.Estimate(3.0, 3.0, 3.0, 6)


def test_the_interval_of_five_trials_is_a_little_more_than_their_range():
    # The chance that at least 3 of 5 draws are the smallest is 5.8 %, more than the 2.5 % cut off on that side.
    found = stats.median([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (found.value, found.count) == (3.0, 5)
    assert found.low == pytest.approx(1 / 5**0.07)
    assert found.high == pytest.approx(5 * 5**0.07)


def test_an_interval_around_zero_is_widened_by_a_part_of_its_width():
    found = stats.median([-1.0, 0.0, 2.0, 1.0])
    assert (found.low, found.high) == pytest.approx((-1 - 0.25 * 3, 2 + 0.25 * 3))


def test_the_interval_narrows_with_more_trials():
    generator = np.random.default_rng(1)
    narrow, wide = (stats.median(generator.normal(100, 5, count).tolist()) for count in (400, 10))
    assert narrow.spread < wide.spread
    assert narrow.low < 100 < narrow.high


def test_what_slows_both_sides_of_a_trial_leaves_the_ratio_alone():
    speed = [100.0, 50.0, 80.0, 20.0, 90.0]
    assert stats.ratio([3 * value for value in speed], speed) == stats.Estimate(3.0, 3.0, 3.0, 5)


def test_pairs_decide_where_medians_alone_would_not():
    below = [10.0, 20.0, 40.0, 80.0, 160.0]
    above = [value * factor for value, factor in zip(below, (1.2, 1.1, 1.3, 1.2, 1.1), strict=True)]
    paired = stats.ratio(above, below)
    assert paired.value == pytest.approx(1.3)
    assert paired.low > 1


def outliers(generator, count):
    """Trials of which every tenth was disturbed by something else."""
    disturbed = 1 + np.where(generator.random(count) < 0.1, generator.exponential(0.5, count), 0)
    return generator.lognormal(0, 0.05, count) * disturbed


def heavy_tails(generator, count):
    """Trials that now and then are far off."""
    return np.exp(0.05 * generator.standard_t(2, count))


def lognormal(generator, count):
    """Trials as the widening was made for."""
    return generator.lognormal(0, 0.05, count)


ATTEMPTS = 400


@pytest.mark.parametrize("noise", [lognormal, outliers, heavy_tails])
@pytest.mark.parametrize("count", [2, 3, 5, 7, 10])
def test_the_interval_of_a_backend_against_itself_holds_1_as_often_as_it_says(noise, count):
    generator = np.random.default_rng([7, count])
    held = 0
    for _ in range(ATTEMPTS):
        drift = generator.lognormal(0, 0.2, count)
        first, second = (drift * noise(generator, count) for _ in range(2))
        estimate = stats.ratio(first.tolist(), second.tolist())
        held += estimate.low <= 1 <= estimate.high
    assert held >= 0.93 * ATTEMPTS


@pytest.mark.parametrize("count", [2, 3, 5, 7, 10])
def test_the_interval_of_a_median_holds_the_true_one_as_often_as_it_says(count):
    generator = np.random.default_rng([8, count])
    found = [stats.median(lognormal(generator, count).tolist()) for _ in range(ATTEMPTS)]
    assert sum(one.low <= 1 <= one.high for one in found) >= 0.92 * ATTEMPTS


@pytest.mark.parametrize("count", [3, 5])
def test_the_interval_of_a_change_that_is_none_holds_1_as_often_as_it_says(count):
    generator = np.random.default_rng([9, count])

    def side():
        return lognormal(generator, count).tolist(), lognormal(generator, count).tolist()

    found = [stats.change(side(), side()) for _ in range(ATTEMPTS)]
    assert sum(one.low <= 1 <= one.high for one in found) >= 0.92 * ATTEMPTS


@given(samples)
def test_the_interval_holds_the_median(values):
    estimate = stats.median(values)
    assert 0 < estimate.low <= estimate.value <= estimate.high
    assert estimate.value == pytest.approx(float(np.median(values)))


@given(samples)
def test_the_same_values_give_the_same_interval(values):
    assert stats.median(values) == stats.median(values)


@given(samples, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_does_not_matter(values, factor):
    one, other = stats.median(values), stats.median([value * factor for value in values])
    assert (other.value, other.low, other.high) == pytest.approx(
        (one.value * factor, one.low * factor, one.high * factor)
    )


@given(samples)
def test_a_backend_is_as_fast_as_itself(values):
    assert stats.ratio(values, values) == stats.Estimate(1.0, 1.0, 1.0, len(values))


@given(pairs)
def test_the_ratio_the_other_way_round_is_the_inverse(values):
    above, below = zip(*values, strict=True)
    one, other = stats.ratio(above, below), stats.ratio(below, above)
    assert one.low <= one.value <= one.high
    assert other.value == pytest.approx(1 / one.value)
    assert one.inverse().low == pytest.approx(1 / one.high)


@pytest.mark.parametrize(
    ("above", "below", "message"),
    [([], [], "at least one"), ([1.0], [1.0, 2.0], "pairs"), ([1.0], [0.0], "positive"), ([np.nan], [1.0], "finite")],
)
def test_what_has_no_ratio_is_refused(above, below, message):
    with pytest.raises(ValueError, match=message):
        stats.ratio(above, below)


@pytest.mark.parametrize(
    ("values", "expected"), [([4.0], 0.0), ([2.0, 2.0], 0.0), ([9.0, 11.0], 0.1414), ([0.0, 0.0], 0.0)]
)
def test_variation_is_the_deviation_as_a_part_of_the_mean(values, expected):
    assert stats.variation(values) == pytest.approx(expected, abs=1e-4)

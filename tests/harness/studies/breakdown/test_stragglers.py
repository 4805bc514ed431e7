"""The last lane of a round and its delay: exact numbers, from spans that were made up."""

import pytest

from harness.store.phase_table import COMPUTE, SERIALISE
from harness.studies.breakdown.phases import LaneSpan, stragglers

MARKS = [1_000, 2_000, 3_000, 5_000]


def found_of(spans, marks):
    return tuple(stragglers(spans, marks).values())


def computing(lane, *ends):
    return [LaneSpan(lane, COMPUTE, end - 100, end) for end in ends]


def test_the_lane_that_most_often_ended_last_and_how_much_later_than_the_median_lane():
    spans = [
        *computing("hub", 1_300, 2_900, 3_500),
        *computing("process 1", 1_500, 2_300, 3_900),
        *computing("process 2", 1_900, 2_500, 4_900),
    ]
    found = found_of(spans, MARKS)
    # Process 2 is last in rounds 1 and 3, the hub's lane in round 2. They are 400 of 1000, 400 of 1000 and 1000 of
    # 2000 ns late.
    assert found == (3, pytest.approx(2 / 3), pytest.approx((0.4 + 0.4 + 0.5) / 3), 0.5)


def test_of_an_even_number_of_lanes_the_earlier_of_the_middle_two_is_the_median():
    two = [*computing("a", 1_200), *computing("b", 1_700)]
    assert found_of(two, MARKS[:2]) == (2, 1.0, 0.5, 0.5)
    four = [*two, *computing("c", 1_300), *computing("d", 1_900)]
    assert found_of(four, MARKS[:2]) == (4, 1.0, pytest.approx(0.6), pytest.approx(0.6))
    several = [*computing("a", 1_100, 1_400, 1_800), *computing("b", 1_600)]  # workers in lane a
    assert found_of(several, MARKS[:2]) == (2, 1.0, pytest.approx(0.2), pytest.approx(0.2))


def test_95_in_a_hundred_rounds_are_no_later():
    marks = [1_000 * number for number in range(101)]
    late = [10 * number for number in range(100)]
    spans = [span for number, by in enumerate(late) for span in computing("a", 1_000 * number + 5 + by)]
    spans += [span for number in range(100) for span in computing("b", 1_000 * number + 5)]
    found = found_of(spans, marks)
    assert found[2:] == (pytest.approx(0.495), 0.94)


def test_only_workers_code_of_measured_rounds_counts():
    spans = [
        *computing("a", 1_200, 900, 1_000, 5_001),
        LaneSpan("b", SERIALISE, 1_100, 1_900),
        *computing("b", 1_700, 2_000),
    ]
    assert found_of(spans, MARKS) == (2, 1.0, pytest.approx(0.8), pytest.approx(0.8))


def test_of_one_lane_there_is_nothing_to_tell_and_without_any_that_is_said():
    alone = found_of(computing("hub", 1_500, 2_500), MARKS)
    assert alone == (1, 1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="no worker's code ended within a measured round"):
        stragglers(computing("hub", 900), MARKS)

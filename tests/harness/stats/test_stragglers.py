"""Who is the last of a round, and how late: exact numbers of spans that were made up."""

import json

import pytest

from harness.stats.stragglers import UNITS, Stragglers, medians
from harness.store.phase_table import BREAKDOWN, PhaseRow
from harness.studies.breakdown.last_lanes import stragglers
from harness.studies.breakdown.spans import COMPUTE, SERIALISE, Span

MARKS = [1_000, 2_000, 3_000, 5_000]


def computing(lane, *ends):
    return [Span(lane, COMPUTE, end - 100, end) for end in ends]


def test_the_lane_that_most_often_ended_last_and_how_much_later_than_the_median_lane():
    spans = [
        *computing("hub", 1_300, 2_900, 3_500),
        *computing("process 1", 1_500, 2_300, 3_900),
        *computing("process 2", 1_900, 2_500, 4_900),
    ]
    found = stragglers(spans, MARKS)
    # Process 2 in rounds 1 and 3, the hub's lane in round 2; 400 of 1000 ns, 400 of 1000 ns, 1000 of 2000 ns later.
    assert found == (3, pytest.approx(2 / 3), pytest.approx((0.4 + 0.4 + 0.5) / 3), 0.5)
    assert found.cells == ("67% of 3", "43%, 95 %: 50%")


def test_of_an_even_number_of_lanes_the_earlier_of_the_middle_two_is_the_median():
    two = [*computing("a", 1_200), *computing("b", 1_700)]
    assert stragglers(two, MARKS[:2]) == (2, 1.0, 0.5, 0.5)
    four = [*two, *computing("c", 1_300), *computing("d", 1_900)]
    assert stragglers(four, MARKS[:2]) == (4, 1.0, pytest.approx(0.6), pytest.approx(0.6))


def test_a_lane_with_several_workers_ends_with_the_last_of_them():
    spans = [*computing("a", 1_100, 1_400, 1_800), *computing("b", 1_600)]
    assert stragglers(spans, MARKS[:2]) == (2, 1.0, pytest.approx(0.2), pytest.approx(0.2))


def test_95_in_a_hundred_rounds_are_no_later():
    marks = [1_000 * number for number in range(101)]
    late = [10 * number for number in range(100)]
    spans = [span for number, by in enumerate(late) for span in computing("a", 1_000 * number + 5 + by)]
    spans += [span for number in range(100) for span in computing("b", 1_000 * number + 5)]
    found = stragglers(spans, marks)
    assert (found.lag, found.lag_p95) == (pytest.approx(0.495), 0.94)


def test_only_workers_code_of_measured_rounds_counts():
    spans = [
        *computing("a", 1_200, 900, 1_000, 5_001),
        Span("b", SERIALISE, 1_100, 1_900),
        *computing("b", 1_700, 2_000),
    ]
    assert stragglers(spans, MARKS) == (2, 1.0, pytest.approx(0.8), pytest.approx(0.8))


def test_of_one_lane_there_is_nothing_to_tell_and_without_any_that_is_said():
    alone = stragglers(computing("hub", 1_500, 2_500), MARKS)
    assert alone == (1, 1.0, 0.0, 0.0)
    assert alone.cells == ("-", "-")
    with pytest.raises(ValueError, match="no worker's code ended within a measured round"):
        stragglers(computing("hub", 900), MARKS)


def row(trial, phase, value, backend="ray-tuned"):
    return PhaseRow(
        run_id="a-run",
        started_at="2026-05-01T10:00:00Z",
        workload="gym_sampling",
        scenario="CartPole-v1",
        backend=backend,
        actors=4,
        object_bytes=None,
        steps_per_message=1,
        minibatch=None,
        parameters=json.dumps({"actors": 4}),
        trial=trial,
        rounds=5,
        phase=phase,
        value=value,
        unit=UNITS.get(phase, "ns"),
        status="ok",
    )


def test_of_several_trials_the_medians_are_told_and_older_files_have_none(tmp_path):
    trials = [(4, 0.5, 0.1, 0.3), (4, 0.3, 0.2, 0.4), (4, 0.4, 0.9, 1.0)]
    told = [row(number, *pair) for number, trial in enumerate(trials) for pair in zip(UNITS, trial, strict=True)]
    older = [row(0, "round", 1e6, backend="ray-paper"), row(0, "compute", 1e5, backend="ray-paper")]
    BREAKDOWN.write(tmp_path, [*told, *older])
    read = BREAKDOWN.read(tmp_path)
    assert medians(read) == {(told[0].point, "ray-tuned"): Stragglers(4, 0.4, 0.2, 0.4)}
    assert medians(older) == {}

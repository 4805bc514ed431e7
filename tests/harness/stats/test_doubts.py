"""Digests are compared, and doubts are found."""

import pytest

from harness.stats import doubts
from harness.store import digests


def keyed(found):
    return {(backend, trial): reason for (_, _, backend, trial), reason in found.items()}


def test_equal_digests_are_no_disagreement(row):
    rows = [row(), row(backend="ray-paper"), row(backend="reactor-inline", trial=1)]
    assert digests.disagreements(rows) == {}


def test_serial_is_right_even_when_outvoted(row):
    rows = [row(digest="11-1"), row(backend="a", digest="22-2"), row(backend="b", digest="22-2")]
    assert keyed(digests.disagreements(rows)) == {
        ("a", 0): "digest differs: 22-2, serial has 11-1",
        ("b", 0): "digest differs: 22-2, serial has 11-1",
    }


def test_without_serial_most_backends_are_right(row):
    rows = [row(backend=name, digest=digest) for name, digest in (("a", "11"), ("b", "22"), ("c", "11"))]
    assert keyed(digests.disagreements(rows)) == {("b", 0): "digest differs: 22, most backends have 11"}


def test_without_a_majority_nobody_is_right(row):
    rows = [row(backend="b", digest="2" * 40), row(backend="a", digest="1" * 40)]
    reason = "digest differs: no majority among a 11111111, b 22222222"
    assert keyed(digests.disagreements(rows)) == {("a", 0): reason, ("b", 0): reason}


def test_a_backend_has_one_vote_however_many_trials(row):
    rows = [row(backend="a", digest="1", trial=trial) for trial in range(5)]
    rows += [row(backend="b", digest="2"), row(backend="c", digest="2")]
    assert set(keyed(digests.disagreements(rows))) == {("a", trial) for trial in range(5)}


def test_a_later_trial_that_differs_from_the_first_is_found(row):
    rows = [row(), row(trial=1, digest="other")]
    assert keyed(digests.disagreements(rows)) == {("serial", 1): "digest differs: other, serial has aa-bb"}


def test_points_are_compared_for_themselves(row):
    assert digests.disagreements([row(), row(parameters='{"actors":3}', digest="other")]) == {}


def test_failed_rows_and_rows_without_digest_do_not_count(row):
    rows = [row(digest="x").failed("time limit"), row(backend="a"), row(backend="b", digest="")]
    assert digests.disagreements(rows) == {}


@pytest.mark.parametrize(
    ("values", "circumstances", "expected"),
    [
        ([1.0] * 5, {}, []),
        ([1.0], {}, ["1 trial"]),
        ([1.0] * 3, {}, ["3 trials"]),
        ([10.0, 10.0, 10.0, 10.0, 14.0], {}, ["spread 17%"]),
        ([1.0] * 5, {"cores": 4, "outside_cores": 0.3}, []),
        ([1.0] * 5, {"cores": 4, "outside_cores": 0.5}, ["loaded 0.5/4 cores"]),
        ([1.0] * 5, {"measured_ns": 2e9}, []),
        ([1.0] * 5, {"measured_ns": 12e6}, ["short 12 ms"]),
        ([1.0] * 5, {"round_ns": 2_000, "tick_ns": 50}, []),
        ([1.0] * 5, {"round_ns": 600, "tick_ns": 50}, ["clock ticks 50 ns"]),
    ],
)
def test_doubts(values, circumstances, expected):
    assert doubts.doubts(values, **circumstances) == expected

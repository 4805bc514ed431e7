"""Percentiles of round times, from what turns counted."""

import math

import numpy as np
import pytest

from harness.measure import percentiles
from harness.measure.turn import BIN, Turn


def turn(*times_ns):
    bins = [int(math.log(time) / BIN) for time in times_ns]
    return Turn(len(times_ns), sum(times_ns), 1, {number: bins.count(number) for number in bins})


def test_the_percentiles_of_all_turns_together_are_those_of_their_rounds():
    times = np.random.default_rng(1).lognormal(10, 0.7, 2_000)
    found = percentiles.of(turn(*times[first : first + 100]) for first in range(0, 2_000, 100))
    assert [*found] == ["p50_ns", "p95_ns", "p99_ns"]
    assert [*found.values()] == pytest.approx(np.percentile(times, (50, 95, 99), method="inverted_cdf"), rel=0.006)


@pytest.mark.parametrize(("rounds", "known"), [(0, 0), (1, 0), (2, 1), (19, 1), (20, 2), (99, 2), (100, 3)])
def test_a_percentile_that_no_round_is_beyond_is_not_known(rounds, known):
    found = percentiles.of([turn(*range(1_000, 1_000 + rounds))])
    assert [one is not None for one in found.values()] == [True] * known + [False] * (3 - known)

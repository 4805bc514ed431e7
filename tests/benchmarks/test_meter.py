"""Laps: the first is the warm-up, and there are as many as asked for after it."""

import pytest

from benchmarks import paths
from benchmarks.meter import Meter
from workloads.overhead.task import SHAPES


def test_there_are_as_many_laps_as_asked_for_after_the_warm_up():
    laps = Meter(warmup=5, tags=10, laps=2)
    assert [laps.next_lap(), laps.next_lap(), laps.next_lap()] == [10, 10, 0]


def test_a_warm_up_may_be_all():
    assert Meter(warmup=5, tags=0, laps=0).next_lap() == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_of_overhead_ends_after_the_last_lap(shape):
    meter = Meter(warmup=1, tags=2, laps=2)
    paths.overhead(meter, shape, messages=3)
    assert meter.next_lap() == 0

"""Each structure and shape has as many reactions per tag as the figures are divided by, and ends after its laps."""

from collections import Counter

import pytest

from benchmarks import paths
from benchmarks.meter import Meter
from benchmarks.structures import ActionLoop, AllToAll, Quiet, QuietSwitches, QuietTimers, Star, Tree
from reactorlib import USEC, run
from workloads.overhead.task import SHAPES

TAGS = 30
PER_TAG = {
    "action now": (ActionLoop, {"delay": 0 * USEC}, 1),
    "action later": (ActionLoop, {"delay": 1 * USEC}, 1),
    "idle reactors": (Quiet, {"reactors": 10}, 1),
    "waiting timers": (QuietTimers, {"reactors": 10}, 1),
    "switching modes": (QuietSwitches, {"reactors": 10}, 2),
}
ONCE = {
    "star": (Star, {"clients": 16}, 19),
    "tree": (Tree, {"depth": 2, "children": 3}, 11),
    "all-to-all": (AllToAll, {"width": 4}, 10),
}


@pytest.mark.parametrize("name", PER_TAG)
def test_reactions_per_tag(name):
    shape, parameters, reactions = PER_TAG[name]
    meter = Meter(2, TAGS)
    trace = run(shape, fast=True, trace=True, meter=meter, **parameters).trace
    per_tag = Counter(record.tag for record in trace)
    steady = sorted(per_tag)[1:-1]  # without what startup and the end are short of
    assert [per_tag[tag] for tag in steady] == [reactions] * len(steady)
    assert len(steady) in (TAGS + 1, TAGS)
    assert meter.next_lap() == 0
    laps = Meter(warmup=5, tags=10, laps=2)
    assert [laps.next_lap(), laps.next_lap(), laps.next_lap()] == [10, 10, 0]


@pytest.mark.parametrize("name", ONCE)
def test_reactions_of_a_structure_that_is_asked_once(name):
    shape, parameters, reactions = ONCE[name]
    assert len(run(shape, fast=True, trace=True, **parameters).trace) == reactions


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_of_overhead_ends_after_the_last_lap(shape):
    meter = Meter(warmup=1, tags=2, laps=2)
    paths.overhead(meter, shape, messages=3)
    assert meter.next_lap() == 0

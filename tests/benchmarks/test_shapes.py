"""Each shape has as many reactions per tag as the figures are divided by, and ends by itself."""

from collections import Counter

import pytest

from benchmarks.meter import Meter
from benchmarks.shapes import ActionLoop, Chain, FanOut, Loop, PingPong
from benchmarks.structures import AllToAll, Quiet, QuietTimers, Timers, Tree
from reactorlib import USEC, run

TAGS = 30
PER_TAG = {
    "fan-out": (FanOut, {"clients": 16}, 17),
    "ping-pong": (PingPong, {}, 2),
    "chain": (Chain, {"length": 10}, 11),
    "loop": (Loop, {}, 1),
    "action now": (ActionLoop, {}, 1),
    "action later": (ActionLoop, {"delay": 1 * USEC}, 1),
    "idle reactors": (Quiet, {"reactors": 10}, 1),
    "waiting timers": (QuietTimers, {"reactors": 10}, 1),
    "one timer": (Timers, {"timers": 1}, 1),
    "tree": (Tree, {"depth": 2, "children": 3}, 10),
    "all-to-all": (AllToAll, {"width": 4}, 9),
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


def test_a_round_of_timers_is_a_tag_for_each():
    trace = run(Timers, fast=True, trace=True, meter=Meter(1, TAGS), timers=7).trace
    per_tag = Counter(record.tag for record in trace)
    assert set(per_tag.values()) == {1}
    assert abs(len(per_tag) - 7 * (TAGS + 1)) <= 7

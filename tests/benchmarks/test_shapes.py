"""Each shape has as many reactions per tag as the figures are divided by, and ends by itself."""

from collections import Counter

import pytest

from benchmarks.meter import Meter
from benchmarks.shapes import ActionLoop, Chain, FanOut, Loop, PingPong, Ring
from benchmarks.structures import AllToAll, Quiet, QuietTimers, Sparse, Switchers, Timers, Tree
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
    "sparse": (Sparse, {"width": 8}, 2),
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


@pytest.mark.parametrize(("shape", "parameters"), [(Ring, {"length": 6}), (Timers, {"timers": 7})])
def test_a_round_is_a_tag_for_each_member(shape, parameters):
    (members,) = parameters.values()
    trace = run(shape, fast=True, trace=True, meter=Meter(1, TAGS), **parameters).trace
    per_tag = Counter(record.tag for record in trace)
    assert set(per_tag.values()) == {1}
    rounds = TAGS + 1
    assert abs(len(per_tag) - rounds * (members + (shape is Ring))) <= members


def test_each_modal_reactor_switches_once_a_round():
    trace = run(Switchers, fast=True, trace=True, meter=Meter(1, TAGS), switchers=5).trace
    switched = Counter(record.reaction for record in trace if "switchers[" in record.reaction)
    there, back = (switched[f"Switchers.switchers[2].{name}"] for name in ("there", "back"))
    assert there + back in (TAGS, TAGS + 1)
    assert there - back in (0, 1)


def test_xronos_runs_the_same_shapes():
    xronos = pytest.importorskip("benchmarks.shapes_on_xronos", reason="xronos is not installed")
    for run_shape, options in ((xronos.run_fan_out, {"clients": 4}), (xronos.run_ping_pong, {})):
        meter = Meter(2, TAGS)
        run_shape(meter, **options)
        assert meter.next_lap() == 0

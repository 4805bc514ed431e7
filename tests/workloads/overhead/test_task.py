"""Overhead: the size of each shape, what a round counts, and the timers' plan."""

import pytest

from workloads.overhead.task import SHAPES, SLOT_NS, Task
from workloads.parameter import ParameterError

USUAL = {
    "ping_pong": ("ping_pong", 2, 2),
    "thread_ring": ("thread_ring-100", 100, 100),
    "counting": ("counting", 2, 2),
    "fan_out": ("fan_out-16", 16, 17),
    "chain": ("chain-100", 100, 100),
    "timers": ("timers-1000", 1000, 1000),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_has_a_usual_size_and_counts_its_reactions(shape):
    task = Task(shape=shape, messages_per_round=10)
    assert (task.scenario, task.actors, task.units_per_round / 10) == USUAL[shape]


@pytest.mark.parametrize("values", [{"shape": shape} for shape in SHAPES] + [{"actors": 256}, {"actors": 1}], ids=str)
def test_a_round_usually_has_some_thousand_reactions(values):
    assert 700 < Task(**values).units_per_round <= 1_000


def test_a_round_has_at_least_one_message():
    assert Task(shape="chain", actors=5_000).messages_per_round == 1


def test_a_size_may_be_given_where_a_shape_has_one():
    assert Task(shape="fan_out", actors=256).scenario == "fan_out-256"
    assert Task(shape="ping_pong", actors=2).actors == 2
    with pytest.raises(ParameterError, match=r"^actors: ping_pong takes exactly 2, got 3$"):
        Task(shape="ping_pong", actors=3)


def test_an_unknown_shape_is_refused_with_the_nearest():
    with pytest.raises(ParameterError, match=r"^shape: unknown 'fanout'; did you mean fan_out"):
        Task(shape="fanout")


def test_each_slot_of_time_belongs_to_one_timer():
    task = Task(shape="timers", actors=20)
    offsets = task.timer_offsets_ns()
    assert sorted(offsets) == [SLOT_NS * slot for slot in range(1, 21)]
    assert task.timer_period_ns == 20 * SLOT_NS
    assert task.timer_round_ns == task.messages_per_round * task.timer_period_ns
    assert offsets == task.timer_offsets_ns() != Task(shape="timers", actors=20, seed=1).timer_offsets_ns()

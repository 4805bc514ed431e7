"""Broadcast and gather: sizes, their names, and what the workers and the hub do."""

import numpy as np
import pytest

from workloads.broadcast_gather.task import Task
from workloads.parameter import ParameterError


@pytest.mark.parametrize(
    ("object_bytes", "scenario"),
    [
        (10 * 2**20, "10MiB"),
        (2**30, "1GiB"),
        (1_000, "1kB"),
        (100_000, "100kB"),
        (3_000_000, "3MB"),
        (500_000_000, "500MB"),
        (8, "8B"),
        (1_008, "1008B"),
    ],
)
def test_the_scenario_is_the_exact_size(object_bytes, scenario):
    assert Task(object_bytes=object_bytes).scenario == scenario


def test_a_size_that_is_no_whole_number_of_elements_is_refused():
    with pytest.raises(ParameterError) as refusal:
        Task(object_bytes=1001)
    assert str(refusal.value) == (
        "object_bytes: must be a multiple of 8 (float64), got 1001; the nearest are 1000 and 1008"
    )


@pytest.mark.parametrize("values", [{"object_bytes": 0}, {"actors": 0}, {"work_seconds": -1.0}, {"rounds": 0}])
def test_values_out_of_range_are_refused(values):
    with pytest.raises(ParameterError, match="must be at least"):
        Task(**values)


def test_the_first_array_has_the_size_and_depends_on_the_seed_only():
    assert Task(object_bytes=80).first_value().nbytes == 80
    assert np.array_equal(Task(object_bytes=80).first_value(), Task(object_bytes=80, actors=2).first_value())
    assert not np.array_equal(Task(object_bytes=80).first_value(), Task(object_bytes=80, seed=1).first_value())


def test_a_worker_replies_with_a_copy():
    value = np.arange(4.0)
    reply = Task(work_seconds=0).work(value)
    assert np.array_equal(reply, value)
    assert not np.shares_memory(reply, value)


def test_the_hub_copies_the_reply_and_changes_one_element():
    reply = np.zeros(3)
    reply.flags.writeable = False
    following = Task(object_bytes=24).next_value(reply, 4)
    assert following.tolist() == [0, 1, 0]
    assert reply.tolist() == [0, 0, 0]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_the_next_array_in_parts_is_the_next_array(parts):
    task = Task(object_bytes=80, work_seconds=0)
    value = task.first_value()
    for round_index in (0, 4, 9, 13):
        cut = [task.part(value, own, round_index) for own in task.cut(parts)]
        assert np.array_equal(task.copy(cut), task.next_value(value, round_index))
        assert max(map(len, cut)) - min(map(len, cut)) <= 1

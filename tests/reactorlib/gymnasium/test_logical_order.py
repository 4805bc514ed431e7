"""Logical time, or the batches of another run, decide those of a pool. Both go on from a saved state."""

import functools
from typing import Any

import numpy as np
import pytest

from reactorlib.gymnasium import ReactorPool
from reactorlib.gymnasium.contract import difference, probes
from reactorlib.gymnasium.pool.batch_order import LogicalOrder
from tests.reactorlib.gymnasium.environments import made
from tests.reactorlib.gymnasium.random_pools import WAYS, RandomPool, numbers_of, run


def batches(durations: list[int], counts: list[int]) -> list[list[int]]:
    order = LogicalOrder(durations)
    order.begin(len(durations))
    chosen = []
    for count in counts:
        ids = order.choose(count, count, None)
        assert order.choose(count, count, None) == ids
        order.received()
        order.sent(sorted(ids))
        chosen.append(ids)
    return chosen


def test_those_are_chosen_that_are_due_first() -> None:
    assert batches([1, 3], [1, 1, 1, 1, 1]) == [[0], [0], [1], [0], [0]]  # at 1, 2, 3, 3, 4


def test_those_that_are_due_at_once_go_in_the_order_in_which_they_were_sent_to() -> None:
    assert batches([5] * 4, [2, 2, 3, 1]) == [[0, 1], [2, 3], [0, 1, 2], [3]]


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2], WAYS[5]])
@pytest.mark.parametrize("probe", ["Dict", "infos of every kind"])
def test_logical_order_is_the_same_on_every_number_of_workers(pool: Any, probe: str, way: dict[str, Any]) -> None:
    durations = [1, 4, 2, 2, 7]
    ours = pool(made(probe, 5), order="logical", durations=durations, **way)
    ours.reset_async(seed=1)
    log = run(ours, 20, [2, 1, 3])
    expected = batches(durations, [2, 1, 3] * 7)[:20]
    assert [sorted(ids) for ids in expected] == [batch[-1]["env_id"].tolist() for batch in log]
    alone = pool(made(probe, 5), order="logical", durations=durations, workers=5)
    alone.reset_async(seed=1)
    assert difference(log, run(alone, 20, [2, 1, 3]), "batches") is None


class Lasting(probes.Quiet):
    """Declares how long a step takes."""

    @property
    def duration(self) -> int:
        return 1 + 2 * (self.number % 2)


def test_an_environment_may_declare_its_duration(pool: Any) -> None:
    ours = pool([functools.partial(Lasting, number) for number in range(4)], order="logical", workers=2)
    ours.reset_async(seed=1)
    assert [batch[-1]["env_id"].tolist() for batch in run(ours, 4, [2])] == [[0, 2], [0, 2], [1, 3], [0, 2]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"order": "random"}, "order"),
        ({"durations": [1, 1]}, "order='logical'"),
        ({"order": "logical"}, "environment 0"),
        ({"order": "logical", "durations": [1]}, "1 durations for 2"),
        ({"order": "logical", "durations": [1, 0]}, "environment 1"),
        ({"order": "logical", "durations": [1, 1.5]}, "environment 1"),
    ],
)
def test_orders_that_make_no_sense_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ReactorPool(made("no infos", 2), workers=1, **options)


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2], WAYS[5]])
@pytest.mark.parametrize("order", [{}, {"order": "logical", "durations": [1, 2, 3, 4, 5]}])
def test_the_batches_of_another_run_are_returned_again(pool: Any, way: dict[str, Any], order: dict[str, Any]) -> None:
    first = pool(made("Dict", 5), workers=3, **order)
    first.reset_async(seed=1)
    log = run(first, 20, [2, 1])
    again = pool(made("Dict", 5), order=numbers_of(log), **way)
    again.reset_async(seed=1)
    assert difference(run(again, 20, [2, 1]), log, "batches") is None
    with pytest.raises(ValueError, match="ends after 20 batches"):
        again.recv(1)


def test_a_batch_that_cannot_come_is_refused(pool: Any) -> None:
    ours = pool(made("no infos", 3), workers=1, order=[[0, 1], [1, 2], [2]])
    ours.reset_async(seed=1)
    with pytest.raises(ValueError, match="batch 0 of `order` has 2"):
        ours.recv(3)
    assert ours.recv(2)[-1]["env_id"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="batch 1"):
        ours.recv(1)
    ours.send([0], [1])
    assert ours.recv(1)[-1]["env_id"].tolist() == [1, 2]
    ours.send([0, 0], [0, 1])
    with pytest.raises(ValueError, match="batch 2"):
        ours.recv(1)


def test_a_batch_is_not_larger_than_what_is_asked_for(pool: Any) -> None:
    ours = pool(made("no infos", 3), workers=1, order=[[0, 1, 2]])
    ours.reset_async(seed=1)
    with pytest.raises(ValueError, match="1 to 2 environments are asked for, batch 0 of `order` has 3"):
        ours.recv(1, max_envs=2)


@pytest.mark.parametrize("order", [[[0, 0]], [[0], []], [[3]], [[-1]], [0, 1], [["01"]], [[0.9]], "random", 7])
def test_what_is_no_order_is_refused_before_anything_is_received(order: Any, pool: Any) -> None:
    with pytest.raises(ValueError, match="order"):
        pool(made("no infos", 3), workers=1, order=order)


def test_an_order_may_be_an_array(pool: Any) -> None:
    ours = pool(made("no infos", 3), workers=1, order=np.array([[0, 1], [2, 0]]))
    ours.reset_async(seed=1)
    assert ours.recv(2)[-1]["env_id"].tolist() == [0, 1]


def test_the_batches_of_another_run_begin_at_the_state_that_it_began_with(pool: Any) -> None:
    first = pool(made("no infos", 4), workers=2)
    first.reset_async(seed=1)
    run(first, 5, [2])
    state = first.save()
    log = run(first, 10, [2])
    again = pool(made("no infos", 4), workers=1, order=numbers_of(log))
    again.restore(state)
    assert difference(run(again, 10, [2]), log, "batches") is None


@pytest.mark.parametrize("seed", range(3))
def test_random_pools_return_the_same_bits_in_every_way(seed: int) -> None:
    RandomPool(seed).check(WAYS if seed == 0 else WAYS[2:4])

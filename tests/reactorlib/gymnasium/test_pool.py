"""ReactorPool: parts of it are stepped at a time, each environment as SyncVectorEnv does; and those that fail."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from reactorlib import WorkerError
from reactorlib.gymnasium import EnvironmentTimeoutError, ReactorPool, probes
from reactorlib.gymnasium.check import difference
from tests.choice import first

PROBES = [name for name in probes.PROBES if name not in probes.TWINS]


def made(probe: str, count: int = 5) -> list[Any]:
    return [functools.partial(probes.PROBES[probe], number) for number in range(count)]


@pytest.mark.parametrize("way", [{"executor": "threads"}, {"workers": 1, "context": "spawn"}])
def test_however_workers_run_they_do_what_sync_does(way: dict[str, Any]) -> None:
    compare_with_sync("infos of every kind", "NextStep", **way)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("probe", first(3, PROBES, "every kind of space; three are always tried"))
def test_all_at_once_is_what_sync_does(probe: str, mode: str) -> None:
    compare_with_sync(probe, mode, workers=2)


def compare_with_sync(probe: str, mode: str, **way: Any) -> None:
    pool, sync = ReactorPool(made(probe), autoreset_mode=mode, **way), SyncVectorEnv(made(probe), autoreset_mode=mode)
    sync.action_space.seed(2)
    assert pool.observation_space == sync.observation_space
    assert difference(pool.reset(seed=4), sync.reset(seed=4), "reset") is None
    for _ in range(12):
        actions = sync.action_space.sample()
        assert difference(pool.step(actions), sync.step(actions), "step") is None
    assert pool.get_attr("count") == sync.get_attr("count")
    pool.close()
    sync.close()


@pytest.mark.parametrize("probe", ["Dict", "Text", "infos of every kind"])
def test_whatever_order_they_are_ready_in_each_has_its_own_trajectory(probe: str) -> None:
    steps, n = 25, 5
    pool, sync = ReactorPool(made(probe), workers=2), SyncVectorEnv(made(probe))
    sync.action_space.seed(2)
    actions = [sync.action_space.sample() for _ in range(steps)]
    expected = [sync.reset(seed=4), *(sync.step(action) for action in actions)]
    pool.reset_async(seed=4)
    taken = np.zeros(n, int)
    while taken.min() < steps:
        observations, *columns, infos = pool.recv(2)
        ids = infos["env_id"]
        assert list(ids) == sorted(ids)
        each = zip(ids, iterate(pool.observation_space, observations), strict=True)
        for row, (number, observation) in enumerate(each):
            then = expected[taken[number]]
            everyone = list(iterate(sync.observation_space, then[0]))
            assert difference(observation, everyone[number], "observation") is None
            if taken[number]:
                assert [column[row] for column in columns] == [column[number] for column in then[1:4]]
            assert {key for key in infos if key.startswith("_") and infos[key][row]} == {
                key for key in then[-1] if key.startswith("_") and then[-1][key][number]
            }
        going = [(row, number) for row, number in enumerate(ids) if taken[number] < steps]
        batch = [list(iterate(sync.action_space, actions[taken[number]]))[number] for _, number in going]
        taken[ids] += 1
        if going:
            empty = create_empty_array(pool.single_action_space, len(batch), np.zeros)
            batched = concatenate(pool.single_action_space, batch, empty)
            pool.send(batched, [number for _, number in going])
    pool.close()
    sync.close()


class Held(probes.Quiet):
    """The first of them waits in a step until it may go on."""

    def __init__(self, number: int, go: Any) -> None:
        super().__init__(number)
        self.go = go

    def step(self, action: Any) -> Any:
        if self.number == 0 and action == 2:
            assert self.go.wait(60)
        return super().step(action)


@pytest.mark.parametrize("executor", ["processes", "threads"])
def test_others_go_on_while_one_is_slow(executor: str) -> None:
    go = threading.Event() if executor == "threads" else multiprocessing.get_context("fork").Event()
    pool = ReactorPool([functools.partial(Held, number, go) for number in range(3)], workers=3, executor=executor)
    pool.reset(seed=1)
    pool.send(np.array([2, 0, 0]), [0, 1, 2])
    for _ in range(20):
        *_, infos = pool.recv(1)
        assert 0 not in infos["env_id"]
        pool.send(np.zeros(len(infos["env_id"]), int), infos["env_id"])
    with pytest.raises(EnvironmentTimeoutError, match=r"timed out after 0.05 second\(s\): [12] of 3 are ready"):
        pool.recv(timeout=0.05)
    go.set()
    *_, infos = pool.recv()
    assert list(infos["env_id"]) == [0, 1, 2]
    pool.close()


def test_who_is_sent_to_while_its_worker_is_at_work_waits_for_it() -> None:
    go = multiprocessing.get_context("fork").Event()
    pool = ReactorPool([functools.partial(Held, number, go) for number in range(2)], workers=1)
    pool.reset(seed=1)
    pool.send([2], [0])
    pool.send([0], [1])
    with pytest.raises(TimeoutError):
        pool.recv(1, timeout=0.01)
    go.set()
    assert set(pool.recv(2)[-1]["env_id"]) == {0, 1}
    pool.close()


class Failing(probes.Quiet):
    """The third of them does what it was told to when the action is 2."""

    how = "raise"

    def step(self, action: Any) -> Any:
        if self.number == 2 and action == 2:
            if self.how == "raise":
                raise ZeroDivisionError("by nought")
            if self.how == "hang":
                time.sleep(60)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action)


def failing(how: str) -> ReactorPool:
    def make(number: int) -> Failing:
        env = Failing(number)
        env.how = how
        return env

    pool = ReactorPool([functools.partial(make, number) for number in range(4)], workers=2)
    pool.reset(seed=1)
    return pool


def test_one_that_raises_is_named_and_all_begin_anew() -> None:
    pool = failing("raise")
    began, _ = pool.reset(seed=1)
    pool.send([0, 0, 2, 0], range(4))
    with pytest.raises(ZeroDivisionError) as raised:
        pool.recv()
    assert "in environment 2 of ReactorPool(num_envs=4), in `step`" in "".join(raised.value.__notes__)
    with pytest.raises(RuntimeError, match="reset first"):
        pool.send([0], [0])
    np.testing.assert_array_equal(pool.reset(seed=1)[0], began)
    pool.step(np.zeros(4, int))
    pool.close()


def test_one_that_ends_its_process_is_named() -> None:
    pool = failing("kill")
    pool.send([2, 0], [2, 0])
    with pytest.raises(WorkerError, match=r"environment 2, in `step`: .* was killed by SIGKILL"):
        pool.recv()
    with pytest.raises(ClosedEnvironmentError):
        pool.reset()
    pool.close()


def test_one_that_hangs_is_left_behind() -> None:
    pool = failing("hang")
    pool.send([2, 0], [2, 0])
    assert list(pool.recv(1)[-1]["env_id"]) == [0]
    pool.close(timeout=0.1)


def test_one_that_cannot_be_made_leaves_no_worker() -> None:
    with pytest.raises(ZeroDivisionError, match="division") as raised:  # whose traceback holds the pool
        ReactorPool([*made("no infos", 3), lambda: 1 / 0], workers=4)
    assert multiprocessing.active_children() == []
    assert raised


def test_one_that_is_forgotten_is_closed() -> None:
    failing("hang").send([2], [2])


def test_calls_that_make_no_sense_are_refused() -> None:
    pool = ReactorPool(made("no infos", 3), workers=1)
    with pytest.raises(NoAsyncCallError):
        pool.recv()
    pool.reset_async(seed=1)
    for call in (pool.reset_async, functools.partial(pool.send, [0], [1]), pool.render):
        with pytest.raises(AlreadyPendingCallError):
            call()
    with pytest.raises(ValueError, match="min_envs=4, but 3 environments were sent to"):
        pool.recv(4)
    pool.recv()
    for ids in ([0, 0], [0, 3], [-1, 0], [0], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match="env_ids"):
            pool.send([0, 0], ids)
    pool.send(np.zeros(0, int), [])
    with pytest.raises(ValueError, match="reset_mask"):
        pool.reset(options={"reset_mask": np.array([True, False, False])})
    pool.close()
    with pytest.raises(ClosedEnvironmentError):
        pool.send([0], [0])


@pytest.mark.parametrize("options", [{"executor": "inline"}, {"workers": 0}, {"autoreset_mode": "Disabled"}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` must be"):
        ReactorPool(made("no infos", 2), **options)
    assert isinstance(ReactorPool(made("no infos", 2), workers=9).action_space, spaces.MultiDiscrete)

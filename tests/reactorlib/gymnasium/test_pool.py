"""A ReactorPool steps some of its environments at a time, each as SyncVectorEnv does, and names one that fails."""

import functools
import multiprocessing
import threading
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from reactorlib import WorkerError
from reactorlib.gymnasium import EnvironmentTimeoutError, ReactorPool
from reactorlib.gymnasium.contract import difference, probes
from tests.choice import first
from tests.reactorlib.gymnasium.environments import Held, failing, made

PROBES = [name for name in probes.PROBES if name not in probes.TWINS]


@pytest.mark.parametrize(
    ("probe", "mode", "way"),
    [
        ("infos of every kind", "NextStep", {"executor": "threads"}),
        ("infos of every kind", "NextStep", {"workers": 1, "start_method": "spawn"}),
    ]
    + first(
        6,
        [(probe, mode, {"workers": 2}) for probe in PROBES for mode in ("NextStep", "SameStep")],
        "every kind of space; three are always tried",
    ),
)
def test_all_at_once_is_what_sync_does(pool: Any, probe: str, mode: str, way: dict[str, Any]) -> None:
    ours = pool(made(probe, 5), autoreset_mode=mode, **way)
    sync = SyncVectorEnv(made(probe, 5), autoreset_mode=mode)
    sync.action_space.seed(2)
    assert ours.observation_space == sync.observation_space
    assert difference(ours.reset(seed=4), sync.reset(seed=4), "reset") is None
    for _ in range(12):
        actions = sync.action_space.sample()
        assert difference(ours.step(actions), sync.step(actions), "step") is None
    assert ours.get_attr("count") == sync.get_attr("count")


@pytest.mark.parametrize("probe", ["Dict", "Text", "infos of every kind"])
def test_each_environment_has_its_trajectory_in_any_order_of_readiness(pool: Any, probe: str) -> None:
    steps, n = 25, 5
    ours, sync = pool(made(probe, n), workers=2), SyncVectorEnv(made(probe, n))
    sync.action_space.seed(2)
    actions = [sync.action_space.sample() for _ in range(steps)]
    expected = [sync.reset(seed=4), *(sync.step(action) for action in actions)]
    ours.reset_async(seed=4)
    taken = np.zeros(n, int)
    while taken.min() < steps:
        observations, *columns, infos = ours.recv(2)
        ids = infos["env_id"]
        assert list(ids) == sorted(ids)
        each = zip(ids, iterate(ours.observation_space, observations), strict=True)
        for row, (number, observation) in enumerate(each):
            then = expected[taken[number]]
            everyone = list(iterate(sync.observation_space, then[0]))
            assert difference(observation, everyone[number], "observation") is None
            if taken[number]:
                assert [column[row] for column in columns] == [column[number] for column in then[1:4]]
            assert {key for key in infos if key.startswith("_") and infos[key][row]} == {
                key for key in then[-1] if key.startswith("_") and then[-1][key][number]
            }
        going = [number for number in ids if taken[number] < steps]
        batch = [list(iterate(sync.action_space, actions[taken[number]]))[number] for number in going]
        taken[ids] += 1
        if going:
            empty = create_empty_array(ours.single_action_space, len(batch), np.zeros)
            ours.send(concatenate(ours.single_action_space, batch, empty), going)


@pytest.mark.parametrize("executor", ["processes", "threads"])
def test_others_go_on_while_one_is_slow(pool: Any, executor: str) -> None:
    go = threading.Event() if executor == "threads" else multiprocessing.get_context("fork").Event()
    ours = pool([functools.partial(Held, number, go) for number in range(3)], workers=3, executor=executor)
    ours.reset(seed=1)
    ours.send(np.array([2, 0, 0]), [0, 1, 2])
    for _ in range(20):
        *_, infos = ours.recv(1)
        assert 0 not in infos["env_id"]
        ours.send(np.zeros(len(infos["env_id"]), int), infos["env_id"])
    with pytest.raises(EnvironmentTimeoutError, match=r"0.05 second\(s\): [12] of 3 are ready"):
        ours.recv(timeout=0.05)
    go.set()
    *_, infos = ours.recv()
    assert list(infos["env_id"]) == [0, 1, 2]


def test_a_batch_has_a_minimum_a_maximum_and_a_timeout(pool: Any) -> None:
    go = multiprocessing.get_context("fork").Event()
    ours = pool([functools.partial(Held, number, go) for number in range(5)], workers=5)
    ours.reset(seed=1)
    ours.send(np.array([2]), [0])
    for number in (4, 2, 3, 1):
        ours.send(np.array([0]), [number])
    ours._await(4, 60)  # all but the one that is held
    assert list(ours.recv(1, max_envs=2)[-1]["env_id"]) == [2, 4]
    with pytest.raises(TimeoutError, match="2 of 3 are ready"):
        ours.recv(3, timeout=0.05, max_envs=4)
    assert list(ours.recv(1, timeout=60, max_envs=4)[-1]["env_id"]) == [1, 3]
    with pytest.raises(ValueError, match="max_envs=0"):
        ours.recv(max_envs=0)
    go.set()
    assert list(ours.recv(timeout=60, max_envs=4)[-1]["env_id"]) == [0]


def test_an_environment_waits_for_its_busy_worker(pool: Any) -> None:
    go = multiprocessing.get_context("fork").Event()
    ours = pool([functools.partial(Held, number, go) for number in range(2)], workers=1)
    ours.reset(seed=1)
    ours.send([2], [0])
    ours.send([0], [1])
    with pytest.raises(TimeoutError):
        ours.recv(1, timeout=0.01)
    go.set()
    assert set(ours.recv(2)[-1]["env_id"]) == {0, 1}


def test_an_environment_that_raises_is_named_and_all_begin_anew(pool: Any) -> None:
    ours = pool(failing("step", "raise"), workers=2)
    began, _ = ours.reset(seed=1)
    ours.send([0, 0, 2, 0], range(4))
    with pytest.raises(ZeroDivisionError) as raised:
        ours.recv()
    assert "in environment 2 of ReactorPool(num_envs=4), in `step`" in "".join(raised.value.__notes__)
    with pytest.raises(RuntimeError, match="reset"):
        ours.send([0], [0])
    np.testing.assert_array_equal(ours.reset(seed=1)[0], began)
    ours.step(np.zeros(4, int))


class Shaped(probes.Quiet):
    """Infos of different types and, if asked for, shapes."""

    def __init__(self, number: int, differ: bool) -> None:
        super().__init__(number)
        self.differ = differ

    def info(self) -> dict[str, Any]:
        return {"place": np.zeros(2 + self.number)} if self.differ else {"score": 0.5 if self.number else 0}


def test_infos_that_are_no_batch_are_an_error_and_all_begin_anew(pool: Any) -> None:
    ours = pool([functools.partial(Shaped, number, True) for number in range(2)], workers=2)
    for _ in range(2):
        with pytest.raises(ValueError, match="shape"):
            ours.reset(seed=1)


def test_infos_do_not_depend_on_who_was_ready_first(pool: Any) -> None:
    ours = pool([functools.partial(Shaped, number, False) for number in range(2)], workers=1)
    ours.reset(seed=1)
    ours.send([0], [1])
    ours.send([0], [0])
    one = ours.recv()[-1]
    ours.send([0, 0], [0, 1])
    assert difference(one["score"], ours.recv()[-1]["score"], "score") is None


def test_all_are_closed_though_several_have_raised(pool: Any) -> None:
    closed = []

    class Raising(probes.Quiet):
        def step(self, action: Any) -> Any:
            raise ZeroDivisionError

        def close(self) -> None:
            closed.append(self.number)

    ours = pool([functools.partial(Raising, number) for number in range(2)], workers=2, executor="threads")
    ours.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        ours.step(np.zeros(2, int))
    closed.clear()  # the environments whose spaces were learnt are closed too
    ours.close()
    assert sorted(closed) == [0, 1]


def test_an_environment_that_ends_its_process_is_named(pool: Any) -> None:
    ours = pool(failing("step", "kill"), workers=2)
    ours.reset(seed=1)
    ours.send([2, 0], [2, 0])
    with pytest.raises(WorkerError, match=r"environment 2, in `step`: .* SIGKILL"):
        ours.recv()
    with pytest.raises(ClosedEnvironmentError):
        ours.reset()


def test_an_environment_that_hangs_is_left_behind() -> None:
    ours = ReactorPool(failing("step", "hang"), workers=2)
    ours.reset(seed=1)
    ours.send([2, 0], [2, 0])
    assert list(ours.recv(1)[-1]["env_id"]) == [0]
    ours.close(timeout=0.1)


def test_an_environment_that_cannot_be_made_leaves_no_worker() -> None:
    with pytest.raises(ZeroDivisionError, match="division") as raised:  # whose traceback holds the pool
        ReactorPool([*made("no infos", 3), lambda: 1 / 0], workers=4)
    assert multiprocessing.active_children() == []
    assert raised


def test_a_forgotten_vector_is_closed() -> None:
    ours = ReactorPool(failing("step", "hang"), workers=2)
    ours.reset(seed=1)
    ours.send([2], [2])


def test_calls_that_make_no_sense_are_refused(pool: Any) -> None:
    ours = pool(made("no infos", 3), workers=1)
    with pytest.raises(NoAsyncCallError):
        ours.recv()
    ours.reset_async(seed=1)
    for call in (ours.reset_async, functools.partial(ours.send, [0], [1]), ours.render):
        with pytest.raises(AlreadyPendingCallError):
            call()
    with pytest.raises(ValueError, match="min_envs=4"):
        ours.recv(4)
    ours.recv()
    for ids in ([0, 0], [0, 3], [-1, 0], [0], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match="env_ids"):
            ours.send([0, 0], ids)
    ours.send(np.zeros(0, int), [])
    with pytest.raises(ValueError, match="reset_mask"):
        ours.reset(options={"reset_mask": np.array([True, False, False])})
    ours.close()
    with pytest.raises(ClosedEnvironmentError):
        ours.send([0], [0])


@pytest.mark.parametrize("options", [{"executor": "inline"}, {"workers": 0}, {"autoreset_mode": "Disabled"}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        ReactorPool(made("no infos", 2), **options)


def test_a_pool_has_at_most_a_worker_for_each_environment(pool: Any) -> None:
    assert isinstance(pool(made("no infos", 2), workers=9).action_space, spaces.MultiDiscrete)

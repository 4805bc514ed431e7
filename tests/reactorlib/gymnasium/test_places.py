"""Vector environments where programs have them: in an environment of another one, and beside one that steps."""

import asyncio
import functools
import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from reactorlib.gymnasium import ReactorPool, ReactorVectorEnv
from reactorlib.gymnasium.contract import difference, probes
from tests.reactorlib.executors.conftest import PATIENCE_S
from tests.reactorlib.gymnasium.environments import WAYS, made

INNER: dict[str, Any] = {
    "inline": functools.partial(ReactorVectorEnv, executor="inline"),
    "processes": functools.partial(ReactorVectorEnv, workers=2),
    "pool": functools.partial(ReactorPool, workers=1),
    "default": ReactorVectorEnv,
}


class Team(gymnasium.Env[Any, Any]):
    """A vector environment as one environment."""

    observation_space = spaces.Box(-1, 1, (2, 3), np.float32)
    action_space = spaces.MultiDiscrete([3, 3])

    def __init__(self, kind: Any) -> None:
        self.envs = kind(made("no infos", 2))

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return self.envs.reset(seed=seed)[0], {}

    def step(self, action: Any) -> Any:
        observations, rewards, *_ = self.envs.step(action)
        return observations, float(rewards.sum()), False, False, {}

    def close(self) -> None:
        self.envs.close()


def played(envs: Any) -> list[Any]:
    envs.action_space.seed(1)
    results = [envs.reset(seed=1), *(envs.step(envs.action_space.sample()) for _ in range(3))]
    envs.close()
    return results


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("way", ["inline", "threads", "two processes", "three"])
@pytest.mark.filterwarnings("ignore:worker processes are forked next to other threads")
def test_an_environment_may_be_a_vector_of_others(vector: Any, way: str, inner: str) -> None:
    expected = played(SyncVectorEnv([lambda: Team(SyncVectorEnv)] * 3))
    ours = vector([functools.partial(Team, INNER[inner])] * 3, **WAYS[way])
    assert difference(played(ours), expected, "steps") is None


class Drops(probes.Quiet):
    """Forgets in a step what it holds."""

    kept: list[Any]

    def step(self, action: Any) -> Any:
        self.kept.clear()
        return super().step(action)


@pytest.mark.parametrize("kind", INNER.values(), ids=INNER)
def test_a_vector_that_is_forgotten_while_another_one_steps_says_nothing(vector: Any, kind: Any) -> None:
    ours = vector([functools.partial(Drops, 0)], executor="inline")
    Drops.kept = [kind(made("no infos", 2))]
    kept = Drops.kept[0]
    groups = kept._groups if kind is not INNER["pool"] else kept._members[0].groups
    execution = groups.session._execution
    del kept, groups
    ours.reset(seed=1)
    ours.step(np.zeros(1, int))  # an error in a destructor fails the test
    assert execution.over


class Loading(probes.Quiet):
    """Runs a coroutine in each step."""

    def step(self, action: Any) -> Any:
        with closing(self.loaded(action)) as loading:
            return asyncio.run(loading)

    async def loaded(self, action: Any) -> Any:
        return super().step(action)


class Limited(probes.Quiet):
    """Handles a signal in each step."""

    def step(self, action: Any) -> Any:
        before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
        try:
            return super().step(action)
        finally:
            signal.signal(signal.SIGALRM, before)


def in_coroutine(call: Any) -> Any:
    async def task() -> Any:
        return call()

    return asyncio.run(task())


def in_thread(call: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(PATIENCE_S)


PLACES = {"coroutine": (in_coroutine, Loading), "thread": (in_thread, Limited)}


@pytest.mark.parametrize("given", [{}, {"workers": 2}, {"executor": "processes", "workers": 1}], ids=str)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("place", PLACES)
def test_environments_that_fail_in_the_callers_thread_are_stepped_elsewhere(
    vector: Any, monkeypatch: Any, place: str, count: int, given: dict[str, Any]
) -> None:
    monkeypatch.setattr("reactorlib.gymnasium.vector.stepping_plan.available_cpus", lambda: 2)
    within, kind = PLACES[place]
    make = [functools.partial(kind, number) for number in range(count)]
    expected = played(SyncVectorEnv(make))
    ours = within(lambda: vector(make, **given))
    assert difference(within(lambda: played(ours)), expected, "steps") is None
    assert ours.plan.executor == "processes"
    assert place in ours.plan.reason.replace("event loop", "coroutine") or not given


def test_cheap_environments_are_stepped_inline_in_a_coroutine(vector: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("reactorlib.gymnasium.vector.stepping_plan.available_cpus", lambda: 2)
    ours = in_coroutine(lambda: vector(made("no infos", 1)))
    assert ours.plan.executor == "inline"


@pytest.mark.parametrize("place", PLACES)
def test_an_error_names_the_thread_and_the_argument(vector: Any, place: str) -> None:
    within, kind = PLACES[place]
    ours = vector([functools.partial(kind, 0)] * 2, executor="inline")
    ours.reset(seed=1)
    with pytest.raises((RuntimeError, ValueError)) as raised:
        within(lambda: ours.step(np.zeros(2, int)))
    assert any("caller_steps=False" in note for note in raised.value.__notes__)
    ours.reset(seed=1)
    ours.step(np.zeros(2, int))


def in_daemon(answers: Any, kind: Any, options: dict[str, Any]) -> None:
    try:
        envs = kind(made("no infos", 2), **options)
        answers.send((envs.plan.executor, envs.plan.reason))
        envs.close()
    except Exception as error:  # noqa: BLE001  # the test sees it
        answers.send((type(error).__name__, str(error)))


@pytest.mark.parametrize(
    ("method", "kind", "options", "told"),
    [
        ("fork", ReactorVectorEnv, {}, "inline"),
        ("spawn", ReactorVectorEnv, {}, "inline"),
        ("fork", ReactorVectorEnv, {"workers": 2}, "RunError"),
        ("fork", ReactorPool, {}, "RunError"),
    ],
)
def test_a_daemonic_process_steps_all_itself(method: str, kind: Any, options: dict[str, Any], told: str) -> None:
    context = multiprocessing.get_context(method)
    mine, answers = context.Pipe(duplex=False)
    process = context.Process(target=in_daemon, args=(answers, kind, options), daemon=True)
    process.start()
    answers.close()
    assert mine.poll(PATIENCE_S)
    got, words = mine.recv()
    process.join(PATIENCE_S)
    assert got == told
    assert "daemonic" in words

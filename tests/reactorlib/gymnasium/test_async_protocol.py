"""The asynchronous protocol: each test holds for Gymnasium's AsyncVectorEnv and for ours, on every executor."""

import functools
import multiprocessing
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from reactorlib.gymnasium import ReactorVectorEnv
from reactorlib.gymnasium.contract import probes

APART = {"workers": 2, "caller_steps": False}
KINDS: dict[str, Any] = {
    "gymnasium": AsyncVectorEnv,
    "inline": functools.partial(ReactorVectorEnv, executor="inline"),
    "threads": functools.partial(ReactorVectorEnv, executor="threads", **APART),
    "processes": functools.partial(ReactorVectorEnv, executor="processes", **APART),
}
NOUGHTS = np.zeros(2, np.int64)


class Plain(probes.Quiet):
    """Takes its time if its action is 2, or if `reset` says so; can be rendered, and has a method."""

    render_mode = "rgb_array"

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if options and options.get("slowly"):
            time.sleep(0.3)
        self.options = options
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        if action == 2:
            time.sleep(0.3)
        return super().step(action)

    def render(self) -> Any:
        return np.full((2, 2, 3), self.number, np.uint8)

    def add(self, one: int, other: int = 0) -> int:
        return self.number + one + other


PLAIN = [functools.partial(Plain, number) for number in range(2)]
STATES: dict[str, tuple[Callable[[Any], Any], Callable[..., Any]]] = {
    "reset": (lambda env: env.reset_async(), lambda env, *limit: env.reset_wait(*limit)),
    "step": (lambda env: env.step_async(NOUGHTS), lambda env, *limit: env.step_wait(*limit)),
    "call": (lambda env: env.call_async("add", 1), lambda env, *limit: env.call_wait(*limit)),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]


@pytest.mark.parametrize("state", STATES)
def test_nothing_else_may_be_called_while_a_call_is_pending(vector: Any, kind: Any, state: str) -> None:
    env = vector(PLAIN, kind)
    env.reset(seed=1)
    begin, wait = STATES[state]
    begin(env)
    for other, (begin_other, _) in STATES.items():
        with pytest.raises(AlreadyPendingCallError, match=f"`{other}_async` .* pending call to `{state}`") as raised:
            begin_other(env)
        assert raised.value.name == state
    for call in (lambda: env.set_attr("number", 7), lambda: env.step(NOUGHTS)):
        with pytest.raises(AlreadyPendingCallError):
            call()
    for other, (_, wait_other) in STATES.items():
        if other != state:
            with pytest.raises(NoAsyncCallError, match=f"`{other}_wait` without any prior") as missing:
                wait_other(env)
            assert missing.value.name == other
    assert wait(env, 20) is not None
    with pytest.raises(NoAsyncCallError, match=f"`{state}_async`"):
        wait(env)


@pytest.mark.parametrize("state", STATES)
def test_closing_while_a_call_is_pending_warns(kind: Any, state: str) -> None:
    env = kind(PLAIN)
    env.reset(seed=1)
    STATES[state][0](env)
    with pytest.warns(UserWarning, match=f"`close` while waiting for a pending call to `{state}`"):
        env.close()
    assert env.closed


def test_nothing_may_be_called_after_the_end(kind: Any) -> None:
    env = kind(PLAIN)
    env.reset(seed=1)
    env.close()
    env.close()
    calls = [env.reset, lambda: env.step(NOUGHTS), lambda: env.call("add", 1), lambda: env.set_attr("number", 1)]
    for call in [*calls, *(functools.partial(part, env) for both in STATES.values() for part in both)]:
        with pytest.raises(ClosedEnvironmentError, match=r"after a call to `close\(\)`"):
            call()


@pytest.mark.parametrize("name", [name for name in KINDS if name != "inline"])
@pytest.mark.parametrize("state", ["reset", "step"])
def test_waits_have_limits(name: str, state: str) -> None:
    env = KINDS[name](PLAIN)
    env.reset(seed=1)
    if state == "reset":
        env.reset_async(options={"slowly": True})
    else:
        env.step_async(np.full(2, 2))
    with pytest.raises(multiprocessing.TimeoutError, match=f"`{state}_wait` has timed out after 0.01 second"):
        STATES[state][1](env, 0.01)
    env.close(terminate=True)


def test_methods_attributes_and_pictures(vector: Any, kind: Any) -> None:
    env = vector(PLAIN, kind)
    env.reset(seed=[3, 4])
    assert env.call("add", 1, other=2) == (3, 4)
    assert env.get_attr("number") == (0, 1)
    for values, expected in (([7, 8], (7, 8)), ((5, 6), (5, 6)), (4, (4, 4))):
        env.set_attr("number", values)
        assert env.get_attr("number") == expected
    with pytest.raises(ValueError, match="3` values for 2 environments"):
        env.set_attr("number", [1, 2, 3])
    assert env.render_mode == "rgb_array"
    np.testing.assert_array_equal(np.stack(env.render()), np.full((2, 2, 2, 3), 4))
    assert env.np_random_seed == (3, 4)
    assert len(env.np_random) == 2


def test_options_reach_all_and_a_mask_chooses(vector: Any, kind: Any) -> None:
    env = vector(PLAIN, kind)
    first, _ = env.reset(seed=1, options={"scene": 1})
    assert env.get_attr("options") == ({"scene": 1},) * 2
    second, _ = env.reset(seed=[7, 8], options={"scene": 2, "reset_mask": np.array([False, True])})
    assert env.get_attr("options") == ({"scene": 1}, {"scene": 2})
    np.testing.assert_array_equal(first[0], second[0])
    assert (first[1] != second[1]).any()
    assert env.np_random_seed == (1, 8)
    for mask, error in (
        ([True, False], TypeError), (np.array([1, 0]), TypeError), (np.ones(3, bool), ValueError),
        (np.zeros(2, bool), ValueError),
    ):  # fmt: skip
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="length must match num_envs=2"):
        env.reset(seed=[1, 2, 3])


class Narrow(spaces.Box):
    """A class derived from a space of Gymnasium."""


class Spaced(probes.Probe):
    """Has spaces of its own, which it draws from."""

    def __init__(self, number: int, observed: Any, acted: Any) -> None:
        super().__init__(number, deepcopy(observed), acted)

    def info(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("observed", "acted"),
    [(Narrow(-1, 1, (2,), np.float32), spaces.Discrete(3)), (spaces.Discrete(5), Narrow(-1, 1, (2,), np.float32)),
     (spaces.Text(4), spaces.Discrete(3)), (spaces.Dict({}), spaces.Discrete(3)),
     (probes.AnySpace(), probes.AnySpace()),
     (spaces.Dict(a=spaces.Text(3), b=Narrow(0, 1, (2,), np.float64)), spaces.Tuple([spaces.Discrete(2)] * 2))],
    ids=["derived observations", "derived actions", "text", "nothing", "custom", "custom within"],
)  # fmt: skip
def test_spaces_of_all_kinds_are_as_of_gymnasium(vector: Any, kind: Any, observed: Any, acted: Any) -> None:
    make = [functools.partial(Spaced, number, observed, acted) for number in range(2)]
    shared = {"shared_memory": False} if kind is AsyncVectorEnv else {}
    envs = [vector(make, kind, **shared), vector(make, SyncVectorEnv)]
    assert envs[0].observation_space == envs[1].observation_space
    assert envs[0].action_space == envs[1].action_space
    both = [env.reset(seed=1) for env in envs]
    envs[1].action_space.seed(1)
    for _ in range(4):
        assert data_equivalence(both[0][0], both[1][0])
        np.testing.assert_array_equal(both[0][1:-1], both[1][1:-1])
        actions = envs[1].action_space.sample()
        both = [env.step(actions) for env in envs]

"""Values on their way to environments and back: their owner, their class, and the time at which they are read."""

import functools
import gc
import threading
import weakref
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

import reactorlib.gymnasium
from reactorlib.gymnasium import ReactorPool, ReactorVectorEnv
from reactorlib.gymnasium.contract import difference
from tests.reactorlib.gymnasium.environments import WAYS as EVERY
from tests.reactorlib.scripts import printed

WAYS = [EVERY[name] for name in ("inline", "threads", "two, of which one is the caller's", "two processes")]


class Told(gymnasium.Env[Any, Any]):
    """Gives its action back as its reward, and its one array of infos in every step, which `reset` writes to."""

    observation_space = spaces.Box(-9, 9, (1,))
    action_space = spaces.Box(-9, 9, (1,))
    closed: ClassVar[list[int]] = []

    def __init__(self, number: int = 0, ends: int = 3, fails: str = "") -> None:
        self.number, self.ends, self.fails = number, ends, fails
        self.place, self.at = np.zeros(1), 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        self.place[:] = 0
        return np.zeros(1, np.float32), {"scene": options.pop("scene", "none"), "env_id": 7} if options else {}

    def step(self, action: Any) -> Any:
        if self.fails == "step":
            raise TimeoutError("the simulator does not answer")
        self.at += 1
        self.place[:] = self.at
        return np.zeros(1, np.float32), float(action[0]), self.at == self.ends, False, {"place": self.place}

    def close(self) -> None:
        Told.closed.append(self.number)
        if self.fails == "close":
            raise OSError(f"no display {self.number}")


def told(n: int = 2, **given: Any) -> list[Any]:
    return [functools.partial(Told, number, **given) for number in range(n)]


MAIN = """
import enum, sys
import gymnasium, numpy as np
from gymnasium import spaces
from reactorlib.gymnasium import ReactorVectorEnv

class Mode(enum.Enum):
    EASY, HARD = 1, 2

class Words(spaces.Space):
    def __init__(self): super().__init__(None, None)
    def __eq__(self, other): return isinstance(other, Words)
    __hash__ = None

class Env(gymnasium.Env):
    observation_space, action_space = Words(), spaces.Discrete(2)
    def reset(self, seed=None, options=None):
        return "x", {"is hard": options["mode"] is Mode.HARD, "mode": Mode.EASY}

class Wrap(gymnasium.Wrapper):
    pass

def is_wrapped(env):
    return isinstance(env, Wrap)

if __name__ == "__main__":
    envs = ReactorVectorEnv([lambda: Wrap(Env())] * 2, workers=2, caller_steps=False)
    _, infos = envs.reset(options={"mode": Mode.HARD})
    assert infos["is hard"].all() and infos["mode"].tolist() == [Mode.EASY] * 2
    assert envs.apply(is_wrapped) == envs.apply(lambda env: isinstance(env, Wrap)) == [True, True]
    class Later:
        pass
    def is_later(env, what=Later):
        return what.__name__ == "Later"
    assert envs.apply(is_later) == [True, True]
    envs.close()
"""


def test_classes_of_the_main_script_are_the_same_where_it_was_forked() -> None:
    printed("-c", MAIN)


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_the_name_of_ours_ends_the_call_that_it_is_of(vector: Any, way: dict[str, Any]) -> None:
    env = vector(told(fails="step"), **way)
    env.reset()
    env.step_async(np.zeros((2, 1), np.float32))
    with pytest.raises(TimeoutError, match="the simulator"):
        env.step_wait(timeout=20)
    env.reset()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_actions_are_those_of_the_time_of_the_call(vector: Any, way: dict[str, Any], dtype: str) -> None:
    env = vector(told(), **way)
    env.reset()
    actions = np.full((2, 1), 0.5, dtype)
    env.step_async(actions)
    actions[:] = 9
    assert env.step_wait()[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_actions_that_wait_for_a_worker_are_those_of_the_time_of_the_call(vector: Any, executor: str) -> None:
    pool = vector(told(), ReactorPool, workers=1, executor=executor)
    pool.reset_async()
    pool.recv()
    actions = np.full((1, 1), 0.5, np.float32)
    pool.send(actions, [0])
    actions[:] = 0.75
    pool.send(actions, [1])
    actions[:] = 9
    assert pool.recv()[1].tolist() == [0.5, 0.75]


@pytest.mark.parametrize("way", WAYS)
def test_infos_of_an_episode_s_end_are_those_before_the_reset(vector: Any, way: dict[str, Any]) -> None:
    both = [vector(told(), SyncVectorEnv, autoreset_mode="SameStep"), vector(told(), autoreset_mode="SameStep", **way)]
    for env in both:
        env.reset()
    for _ in range(7):
        steps = [env.step(np.zeros((2, 1), np.float32)) for env in both]
        assert difference(*steps, "step") is None
    assert steps[0][-1].keys() == {"place", "_place"}


class Odd(Told):
    """Returns what hardly any environment returns: no reward, and infos under names that Gymnasium uses itself."""

    def __init__(self, infos: dict[str, Any], width: int = 1) -> None:
        super().__init__()
        self.infos, self.observation_space = infos, spaces.Box(-9, 9, (width,))

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return np.zeros(self.observation_space.shape, np.float32), {}

    def step(self, action: Any) -> Any:
        return self.reset()[0], None, False, False, self.infos


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("infos", [{}, {"final_obs": 3}, {"a": 1, "_a": 5}], ids=str)
def test_odd_rewards_and_infos_are_those_of_sync(vector: Any, way: dict[str, Any], infos: dict[str, Any]) -> None:
    functions = [functools.partial(Odd, infos)] * 2
    both = [vector(functions, SyncVectorEnv), vector(functions, **way)]
    for env in both:
        env.reset()
    steps = [env.step(np.zeros((2, 1), np.float32)) for env in both]
    assert difference(*steps, "step") is None
    assert np.isnan(steps[1][1]).all()


@pytest.mark.parametrize("width", [1, 20_000])
def test_a_mask_leaves_out_no_environment_that_was_never_reset(vector: Any, width: int) -> None:
    functions = [functools.partial(Odd, {}, width)] * 2
    for env in (vector(functions, SyncVectorEnv), vector(functions, workers=2)):
        with pytest.raises(ValueError, match=r"."):
            env.reset(options={"reset_mask": np.array([True, False])})
    assert env.reset(options={"reset_mask": np.array([True, True])})[0].shape == (2, width)
    assert env.reset(options={"reset_mask": np.array([True, False])})[0].shape == (2, width)


class Unready(Odd):
    """Fails in its first reset."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.infos["resets"] = self.infos.get("resets", 0) + 1
        return super().reset() if self.infos["resets"] > 1 else 1 / 0


def test_after_a_reset_that_failed_a_mask_leaves_out_none_either(vector: Any) -> None:
    env = vector([functools.partial(Odd, {}), functools.partial(Unready, {})], executor="inline")
    with pytest.raises(ZeroDivisionError):
        env.reset()
    with pytest.raises(ValueError, match="reset all environments first"):
        env.reset(options={"reset_mask": np.array([True, False])})


def test_a_mask_gives_the_other_rows_of_an_array_that_the_user_has_written_to(vector: Any) -> None:
    functions = [functools.partial(Odd, {})] * 2
    ours, sync = (vector(functions, kind, copy=False) for kind in (ReactorVectorEnv, SyncVectorEnv))
    for env in (ours, sync):
        env.reset()[0][...] = 7
    both = [env.reset(options={"reset_mask": np.array([True, False])})[0] for env in (ours, sync)]
    assert difference(*both, "observations") is None


class Locked(Odd):
    """Has a lock in its infos."""

    def step(self, action: Any) -> Any:
        return (*super().step(action)[:-1], {"lock": threading.Lock()})


@pytest.mark.parametrize("rows", [np.zeros((2, 1), np.float32), [[0.0], [0.0]]], ids=["array", "list"])
def test_infos_that_no_process_can_send_are_an_error_of_the_call(vector: Any, rows: Any) -> None:
    env = vector([functools.partial(kind, {}) for kind in (Locked, Odd)], workers=2, caller_steps=False)
    env.reset()
    with pytest.raises(TypeError, match="pickle"):
        env.step(rows)
    env.reset()
    assert not env.closed


@pytest.mark.parametrize("way", WAYS)
def test_where_nobody_resets_no_environment_is_stepped_after_an_end(vector: Any, way: dict[str, Any]) -> None:
    env = vector([functools.partial(Told, 0, ends) for ends in (9, 2, 9)], autoreset_mode="Disabled", **way)
    env.reset()
    actions = np.zeros((3, 1), np.float32)
    for _ in range(2):
        env.step(actions)
    for step in (env.step, env.step_async):
        with pytest.raises(AssertionError, match="reset environment 1 first"):
            step(actions)
    assert env.get_attr("at") == (2, 2, 2)
    env.reset(options={"reset_mask": np.array([False, True, False])})
    env.step(actions)
    assert env.get_attr("at") == (3, 1, 3)


@pytest.mark.parametrize("way", WAYS[2:])
def test_options_are_each_environment_s_own_where_there_are_processes(vector: Any, way: dict[str, Any]) -> None:
    env = vector(told(4), **way)
    assert env.reset(options={"scene": "hard"})[1]["scene"].tolist() == ["hard"] * 4


@pytest.mark.parametrize("way", WAYS)
def test_all_are_closed_though_one_of_them_cannot_be(way: dict[str, Any]) -> None:
    functions = [functools.partial(Told, 0), functools.partial(Told, 1, fails="close"), functools.partial(Told, 2)]
    env = ReactorVectorEnv(functions, **way)
    Told.closed.clear()  # the first is made once to look at its spaces
    with pytest.raises(OSError, match=r"^no display 1\b") as raised:
        env.close()
    assert "in environment 1 of ReactorVectorEnv(num_envs=3), in `close`" in "".join(raised.value.__notes__)
    if way.get("executor"):
        assert sorted(Told.closed) == [0, 1, 2]
    assert env._groups.session.closed


def test_all_are_closed_though_a_call_that_nobody_waits_for_raised() -> None:
    env = ReactorVectorEnv(told(fails="step"), executor="inline")
    env.reset()
    Told.closed.clear()
    env.step_async(np.zeros((2, 1), np.float32))
    with pytest.warns(UserWarning, match="pending call"):
        env.close()
    assert Told.closed == [0, 1]


def test_a_pool_has_environments_of_the_same_spaces() -> None:
    with pytest.raises(RuntimeError, match="action space different from `Box"):
        ReactorPool(
            [Told, type("Wide", (Told,), {"action_space": spaces.Box(-9, 9, (3,))})], workers=2, executor="threads"
        )


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_pool_s_reset_gives_rewards_of_nought(vector: Any, executor: str) -> None:
    pool = vector(told(ends=1), ReactorPool, workers=1, executor=executor, autoreset_mode="SameStep")
    pool.reset_async()
    for _ in range(2):
        assert [column.tolist() for column in pool.recv()[1:4]] == [[0.0, 0.0], [False, False], [False, False]]
        pool.send(np.full((2, 1), 5, np.float32), [0, 1])
        assert [column.tolist() for column in pool.recv()[1:3]] == [[5.0, 5.0], [True, True]]
        pool.reset_async()
    pool.recv()


def test_a_pool_has_what_every_vector_has(vector: Any) -> None:
    pool = vector(told(3), ReactorPool, workers=2, executor="threads")
    _, infos = pool.reset(seed=5, options={"scene": "hard"})
    assert infos["env_id"].tolist() == [7, 7, 7]  # the environments' own
    assert pool.np_random_seed == (5, 6, 7)
    assert len(pool.np_random) == 3
    for values, expected in (([4, 5, 6], (4, 5, 6)), (1, (1, 1, 1))):
        pool.set_attr("number", values)
        assert pool.get_attr("number") == expected
    with pytest.raises(ValueError, match="2` values for 3"):
        pool.set_attr("number", [1, 2])


@pytest.mark.filterwarnings("ignore:.*out of date")
def test_an_id_without_a_version_is_the_latest() -> None:
    for name, spec in (("CartPole", "CartPole-v1"), ("CartPole-v0", "CartPole-v0")):
        env = reactorlib.gymnasium.make_vec(name, 2, vector_kwargs={"executor": "inline"})
        assert env.spec.id == spec
        env.close()
    with pytest.raises(gymnasium.error.NameNotFound):
        reactorlib.gymnasium.make_vec("CartPol", 2)


def test_the_spec_of_a_vector_has_its_arguments_and_makes_it_again(vector: Any) -> None:
    make, options = reactorlib.gymnasium.make_vec, {"executor": "inline"}
    env = make("Pendulum-v1", 2, vector_kwargs=options, g=1.5)
    again = make(env.spec)
    try:
        assert (again.num_envs, again.spec.kwargs) == (2, env.spec.kwargs)
        assert again.get_attr("g") == (1.5, 1.5)
        env.spec.kwargs["g"] = 0
        assert "g" not in gymnasium.spec("Pendulum-v1").kwargs
    finally:
        env.close()
        again.close()


class Trainer:
    """Whose method makes the environments."""

    def __init__(self, **way: Any) -> None:
        self.envs = ReactorVectorEnv([self.make] * 2, **way)

    def make(self) -> Told:
        return Told()


@pytest.mark.parametrize("way", WAYS)
def test_a_vector_whose_owner_makes_its_environments_is_collected_with_it(way: dict[str, Any]) -> None:
    trainer = Trainer(**way)
    trainer.envs.reset()
    execution = trainer.envs._groups.session._execution
    gone = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert gone() is None
    assert execution.over

"""The checker of vector environments: Gymnasium's own, with the faults that it knows to have, and made-up ones."""

import functools
import os
import signal
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from reactorlib.gymnasium import check_vector_env
from reactorlib.gymnasium.contract import difference, find_all_faults, find_faults
from reactorlib.gymnasium.contract import probes as probing
from tests.reactorlib.gymnasium import culprits


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Any:
    probes = "reactorlib.gymnasium.contract.vector_check.PROBES"
    return lambda *names: monkeypatch.setattr(probes, {name: probing.PROBES[name] for name in names})


@pytest.mark.slow(reason="every probe on Gymnasium's own; `make test` tries them on ours")
def test_sync_is_its_own_twin(only: Any) -> None:
    only(*[name for name in probing.PROBES if name not in probing.TWINS])
    assert find_all_faults(SyncVectorEnv, steps=10) == []


def test_syncs_final_observations_are_those_of_the_next_episode_where_a_buffer_is_reused(only: Any) -> None:
    only("observations in one buffer")
    (fault,) = find_all_faults(SyncVectorEnv)
    assert fault.startswith("observations in one buffer, SameStep: step: infos['final_obs']")


def test_async_keeps_the_flag_of_an_end_through_reset(only: Any) -> None:
    only("no infos")
    faults = find_all_faults(functools.partial(AsyncVectorEnv, shared_memory=False))
    assert all(fault.startswith("no infos, NextStep: step after") for fault in faults)
    assert len(faults) == 2
    assert find_all_faults(AsyncVectorEnv) == []


def test_async_makes_a_matrix_of_rewards_of_shape_1(only: Any) -> None:
    only("a reward of shape (1,)")
    faults = find_all_faults(AsyncVectorEnv, steps=10)
    assert len(faults) == 3
    assert all("rewards have shape (3, 1), not (3,)" in fault or "inhomogeneous" in fault for fault in faults)


class Faulty(SyncVectorEnv):
    """SyncVectorEnv with one fault."""

    fault = ""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if self.fault == "seed":
            seed = None if seed is None else 5 if isinstance(seed, int) else seed
        if self.fault == "short seeds" and isinstance(seed, list):
            seed = seed[: self.num_envs]
        if self.fault == "mask":
            options = None
        observations, infos = super().reset(seed=seed, options=options)
        return (observations, None) if self.fault == "infos" else (observations, infos)

    def step(self, actions: Any) -> Any:
        observations, rewards, terminations, truncations, infos = super().step(actions)
        if self.fault == "dtype":
            rewards = rewards.astype(np.float32)
        if self.fault == "flags":
            terminations = terminations | truncations
        if self.fault == "same array":
            self.buffer = getattr(self, "buffer", observations)
            self.buffer[...] = observations
            observations = self.buffer
        if self.fault == "four":
            return observations, rewards, terminations, infos
        if self.fault == "raises":
            raise OSError("no")
        return observations, rewards, terminations, truncations, infos

    def get_attr(self, name: str) -> Any:
        return list(super().get_attr(name)) if self.fault == "list" else super().get_attr(name)

    def set_attr(self, name: str, values: Any) -> None:
        super().set_attr(name, values[0] if self.fault == "first" and isinstance(values, list) else values)

    def close(self, **kwargs: Any) -> None:
        if self.fault == "close twice" and self.closed:
            raise OSError("closed")
        super().close(**kwargs)


FAULTS = {
    "": None,
    "seed": "reset(seed): observations",
    "short seeds": "a list of 4 seeds for 3 environments is not refused with ValueError",
    "mask": "reset(reset_mask)",
    "infos": "reset(seed): infos are of type NoneType, not dict",
    "dtype": "step: rewards have dtype float32, not float64",
    "flags": "step: terminations are",
    "same array": "is overwritten by a later call",
    "four": "step does not return (observations, rewards, terminations, truncations, infos)",
    "raises": "step raises OSError: no",
    "list": "get_attr('render_mode') are of type list, not tuple",
    "first": "get_attr of what set_attr set",
    "close twice": "close() raises OSError: closed",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(fault: str) -> None:
    make = [functools.partial(probing.Quiet, number) for number in range(3)]
    env = Faulty(make, autoreset_mode=AutoresetMode.DISABLED)
    env.fault = fault
    found = find_faults(env)
    if FAULTS[fault] is None:
        assert found == []
    else:
        assert FAULTS[fault] in found[0]


def test_an_environment_says_by_its_spec_or_its_functions_what_it_is_made_of() -> None:
    env = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    vars(env).pop("env_fns")
    check_vector_env(env, steps=5)
    env = Faulty([lambda: gymnasium.make("CartPole-v1")] * 2)
    env.fault = "dtype"
    with pytest.raises(AssertionError, match=r"1 fault of Faulty\(num_envs=2\):\n  step: rewards have dtype float32"):
        check_vector_env(env)
    check_vector_env(Faulty([lambda: gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))] * 2))


def test_differences_are_told_by_their_place() -> None:
    one, other = {"a": (1, np.arange(3))}, {"a": (1, np.arange(1, 4))}
    assert difference(one, other, "x") == "x['a'][1] are array([0, 1, 2]), not array([1, 2, 3])"
    assert difference(one, one, "x") is None
    assert difference(float("nan"), float("nan"), "x") is None
    assert difference(float("nan"), 5.0, "x") == "x are nan, not 5.0"
    assert difference(1, 1.0, "x") == "x are of type int, not float"


class DyingElsewhere(culprits.Walk):
    """Ends every process but its home."""

    def __init__(self, home: int) -> None:
        super().__init__()
        self.home = home

    def step(self, action: Any) -> Any:
        if os.getpid() != self.home:
            signal.raise_signal(signal.SIGABRT)
        return super().step(action)


def test_an_environment_that_cannot_be_checked_is_told_with_the_reason() -> None:
    class Generous(SyncVectorEnv):
        def step(self, actions: Any) -> Any:
            observations, rewards, *rest = super().step(actions)
            return observations, rewards + 1, *rest

    with pytest.raises(AssertionError, match=r"by itself is not checked: .*ended by SIGABRT in step 1"):
        check_vector_env(Generous([functools.partial(DyingElsewhere, os.getpid())] * 2), steps=5)


def test_a_fault_of_the_environment_is_told_from_one_of_the_vector() -> None:
    with pytest.raises(AssertionError) as caught:
        check_vector_env(AsyncVectorEnv([culprits.CountsInItsClass] * 3), steps=20)
    first, *_, last = str(caught.value).splitlines()[1:]
    assert "not the vector" not in first
    assert last.strip().startswith("the environment is at fault, not the vector: class or module state")

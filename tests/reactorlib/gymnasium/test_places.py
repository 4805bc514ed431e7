"""Vector environments where programs have them: in an environment of another one, and beside one that steps."""

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from reactorlib.gymnasium import ReactorPool, ReactorVectorEnv, probes
from reactorlib.gymnasium.check import difference
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
    session = Drops.kept[0]._groups.session if kind is not INNER["pool"] else Drops.kept[0]._members[0].groups.session
    ours.reset(seed=1)
    ours.step(np.zeros(1, int))  # what a destructor raises fails the test
    assert session.closed

"""Parallel environments of several agents as one vector environment: row by row as a plain loop over them."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from reactorlib.gymnasium import ReactorAgentsVectorEnv
from reactorlib.gymnasium.contract import difference

OPTIONS: list[dict[str, Any]] = [{"executor": "inline"}, {"workers": 2}, {"workers": 3, "caller_steps": False}]
AGENTS = ("fox", "hare", "owl")
SPACES = {
    "Box": (spaces.Box(-1, 1, (2,)), spaces.Discrete(3)),
    "Discrete": (spaces.Discrete(5), spaces.Box(-1, 1, (2,), np.float64)),
    "Dict": (
        spaces.Dict(a=spaces.Box(0, 255, (2, 2), np.uint8), b=spaces.MultiBinary(3)),
        spaces.MultiDiscrete([2, 3]),
    ),
    "Tuple": (spaces.Tuple((spaces.Discrete(3), spaces.Box(0, 1, ()))), spaces.Dict(a=spaces.Discrete(2))),
}


class Leaving:
    """A parallel environment, of which agents leave one by one. The last of `AGENTS` joins later."""

    metadata: ClassVar[dict[str, Any]] = {"name": "leaving"}
    possible_agents = AGENTS
    render_mode = "ansi"

    def __init__(self, kind: str) -> None:
        self.kind, self.random = kind, np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        return SPACES[self.kind][0]

    def action_space(self, agent: str) -> Any:
        return SPACES[self.kind][1]

    def reset(self, seed: Any = None, options: Any = None) -> Any:
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.agents, self.count = ["hare", "fox"], 0
        return self._each(self._observed), self._each(self._info)

    def step(self, actions: dict[str, Any]) -> Any:
        assert [*actions] == [name for name in AGENTS if name in self.agents]
        self.count += 1
        if self.count == 2:
            self.agents.append("owl")
        rewards = self._each(lambda name: sum(map(ord, f"{actions.get(name)!r}")) / 8 + self.random.random())
        gone = self._each(lambda name: bool(self.random.random() < 0.15))
        late = self._each(lambda name: self.count > 12)
        results = self._each(self._observed), rewards, gone, late, self._each(self._info)
        self.agents = [name for name in self.agents if not (gone[name] or late[name])]
        return results

    def _each(self, value: Callable[[str], Any]) -> dict[str, Any]:
        return {name: value(name) for name in self.agents}

    def _observed(self, name: str) -> Any:
        space = self.observation_space(name)
        space.seed(int(self.random.integers(1 << 30)))
        return space.sample()

    def _info(self, name: str) -> dict[str, Any]:
        return {"count": self.count, "name": name} if self.random.random() < 0.5 else {}

    def render(self) -> str:
        return f"{self.kind}: {self.count}"

    def close(self) -> None: ...


class Loop(VectorEnv[Any, Any, Any]):
    """A plain loop over such environments, which resets one in the step after its last agent has left."""

    def __init__(self, make: list[Callable[[], Any]]) -> None:
        self.envs = [one() for one in make]
        self.names = self.envs[0].possible_agents
        self.num_envs = len(make) * len(self.names)
        self.single_observation_space = self.envs[0].observation_space(self.names[0])
        self.action_space = batch_space(self.envs[0].action_space(self.names[0]), self.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        observations, _, _, _, infos = self._rows([self._reset(env, seed + at) for at, env in enumerate(self.envs)])
        return observations, infos

    def _reset(self, env: Any, seed: Any = None) -> Any:
        observations, infos = env.reset(seed=seed)
        return observations, {}, {}, {}, infos

    def step(self, actions: Any) -> Any:
        rows, results = iter(iterate(self.action_space, actions)), []
        for env in self.envs:
            mine = {name: next(rows) for name in self.names}
            living = {name: action for name, action in mine.items() if name in env.agents}
            results.append(env.step(living) if living else self._reset(env))
        return self._rows(results)

    def _rows(self, results: list[Any]) -> Any:
        n, space, infos = self.num_envs, self.single_observation_space, {}
        zeros: Any = create_empty_array(space, n, np.zeros)
        (zero, *_) = iterate(batch_space(space, n), deepcopy(zeros))
        rewards, terminations, truncations = np.zeros(n), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        active, observations = np.zeros(n, np.bool_), []
        each = [(name, *one) for one in results for name in self.names]
        for row, (name, observed, rewarded, terminated, truncated, said) in enumerate(each):
            observations.append(observed.get(name, zero))
            active[row] = name in observed
            if active[row]:
                rewards[row] = rewarded.get(name, 0)
                terminations[row], truncations[row] = terminated.get(name, False), truncated.get(name, False)
                infos = self._add_info(infos, said[name], row)
        infos |= {"active": active, "_active": np.ones(n, np.bool_)}
        return concatenate(space, observations, zeros), rewards, terminations, truncations, infos


def assert_same_as_loop(envs: Any, make: list[Callable[[], Any]], steps: int) -> Any:
    """Compare with a loop. Returns all flags of rows: ended, cut short, active."""
    plain, flags = Loop(make), []
    assert envs.num_envs == plain.num_envs
    assert envs.action_space == plain.action_space
    envs.action_space.seed(5)
    assert difference(envs.reset(seed=3), plain.reset(seed=3), "reset") is None
    for step in range(steps):
        actions = envs.action_space.sample()
        found = envs.step(actions)
        assert difference(found, plain.step(actions), f"step {step}") is None
        flags.append((*found[2:4], found[4]["active"]))
    return np.array(flags)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", SPACES)
def test_rows_are_those_of_a_loop(kind: str, options: dict[str, Any], vector: Any) -> None:
    make = [partial(Leaving, kind)] * 4
    envs = vector(make, ReactorAgentsVectorEnv, **options)
    terminated, truncated, active = assert_same_as_loop(envs, make, 60).swapaxes(0, 1)
    assert terminated.any()
    assert truncated.any()
    assert 0 < active.sum() < active.size
    assert (active | ~(terminated | truncated)).all()  # an end is in a row that an agent has


def test_spaces_names_and_pictures(vector: Any) -> None:
    envs = vector([partial(Leaving, "Box")] * 2, ReactorAgentsVectorEnv, workers=2)
    envs.reset(seed=1)
    assert (envs.agents, envs.num_envs) == ([*AGENTS], 6)
    assert (envs.single_observation_space, envs.single_action_space) == SPACES["Box"]
    assert envs.observation_space.contains(envs.reset(seed=2)[0])
    assert envs.metadata == {"name": "leaving", "autoreset_mode": AutoresetMode.NEXT_STEP}
    assert envs.render() == ("Box: 0", "Box: 0")
    assert envs.vector.apply(lambda env: env.env.kind, [1]) == ["Box"]


class Different(Leaving):
    """Agents whose action spaces differ."""

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(len(agent))


def test_agents_with_different_spaces_are_refused() -> None:
    with pytest.raises(ValueError, match="'fox' and 'hare' have different spaces"):
        ReactorAgentsVectorEnv([partial(Different, "Box")])


def test_knights_archers_zombies(vector: Any) -> None:
    """Agents of PettingZoo's that leave: knights and archers who die."""
    pytest.importorskip("pygame")
    pettingzoo = pytest.importorskip("pettingzoo")

    make = [partial(pettingzoo.make, "parallel", "butterfly/knights_archers_zombies-v11")] * 2
    flags = assert_same_as_loop(vector(make, ReactorAgentsVectorEnv, workers=2), make, 400)
    terminated, _, active = flags.swapaxes(0, 1)
    assert terminated.any()
    assert not active.all()

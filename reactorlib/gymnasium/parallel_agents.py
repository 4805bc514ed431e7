"""Parallel environments of PettingZoo as one vector environment: a row for each agent of each. Needs no PettingZoo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from reactorlib.gymnasium.vector import Info, ListedVectorEnv, is_plain, merged, reshaped


class ReactorAgentsVectorEnv(VectorEnv[Any, Any, Any]):
    """Parallel environments as a vector environment: agent a of environment i has row i * len(agents) + a.

    `env_fns` make environments whose agents all have the same spaces, of arrays. `agents` are their `possible_agents`.
    `options` are those of ReactorVectorEnv, such as `workers`; the autoreset mode is NEXT_STEP.

    `infos["active"]` is True in the rows of agents that have an observation, also after a reset. The end of an agent is
    in the row of its last step. All other rows are padding: observations and rewards of zero, and no end. Their actions
    are dropped. An environment that all agents have left is reset in the next step. `vector` is the ReactorVectorEnv.
    """

    def __init__(self, env_fns: Sequence[Callable[[], Any]], **options: Any) -> None:
        make = [partial(_Stacked, one) for one in env_fns]
        self.vector = vector = ListedVectorEnv(make, autoreset_mode=AutoresetMode.NEXT_STEP, **options)
        learned = vector.metadata["agents"]
        self.agents, self.single_observation_space, self.single_action_space = learned
        self.num_envs = n = vector.num_envs * len(self.agents)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self.metadata = {key: value for key, value in vector.metadata.items() if key != "agents"}
        self.render_mode = vector.render_mode

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, environment i with seed + i: observations and infos."""
        stacked, said = self.vector.reset(seed=seed, options=options)
        rows = self._rows(stacked)
        return rows["observations"], self._infos(rows, said)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all environments: observations, rewards, terminations, truncations, infos."""
        stacked, *_, said = self.vector.step(reshaped(actions, 1, (self.vector.num_envs, len(self.agents))))
        rows = self._rows(stacked)
        ends = [rows[key].astype(np.bool_) for key in ("terminations", "truncations")]
        return rows["observations"], rows["rewards"], *ends, self._infos(rows, said)

    def render(self) -> tuple[Any, ...]:
        """The picture of each environment."""
        return self.vector.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Close all environments."""
        self.vector.close(**kwargs)

    def _rows(self, stacked: Any) -> Any:
        return reshaped(stacked, 2, (self.num_envs,))

    def _infos(self, rows: Any, said: Any) -> dict[str, Any]:
        count = len(self.agents)
        infos: list[Info] = [(env * count + at, info, None) for env, each, _ in said for at, info in each.items()]
        active = rows["active"].astype(np.bool_)
        return {**merged(infos, self.num_envs), "active": active, "_active": np.ones(self.num_envs, np.bool_)}


class _Stacked(gymnasium.Env[Any, Any]):
    """A parallel environment as one environment: its observations are rows of agents, with their rewards and ends."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.env = env = make()
        self.names = [*env.possible_agents]
        self.space, actions = env.observation_space(self.names[0]), env.action_space(self.names[0])
        for name in self.names:
            if (env.observation_space(name), env.action_space(name)) != (self.space, actions):
                raise ValueError(f"the agents {self.names[0]!r} and {name!r} have different spaces: pad them first")
        if not is_plain(self.space) or not is_plain(actions):
            raise ValueError(f"the spaces of agents must be of arrays, got {self.space} and {actions}")
        n = len(self.names)
        self.metadata = {**getattr(env, "metadata", {}), "agents": (self.names, self.space, actions)}
        self.render_mode = getattr(env, "render_mode", None)
        self.action_space = batch_space(actions, n)
        columns = {key: spaces.MultiBinary(n) for key in ("terminations", "truncations", "active")}
        rewards = spaces.Box(-np.inf, np.inf, (n,), np.float64)
        self.observation_space = spaces.Dict(
            {"observations": batch_space(self.space, n), "rewards": rewards, **columns}
        )
        (self._nothing,) = iterate(batch_space(self.space, 1), create_empty_array(self.space, 1, np.zeros))

    @property
    def unwrapped(self) -> Any:
        return getattr(self.env, "unwrapped", self.env)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._stacked(observations, {}, {}, {}), self._by_position(infos)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        each = zip(self.names, iterate(self.action_space, action), strict=True)
        living = {*self.env.agents}
        *columns, infos = self.env.step({name: one for name, one in each if name in living})
        return self._stacked(*columns), 0.0, not self.env.agents, False, self._by_position(infos)

    def _stacked(self, observations: Any, rewards: Any, terminations: Any, truncations: Any) -> dict[str, Any]:
        rows = [observations.get(name, self._nothing) for name in self.names]
        empty: Any = create_empty_array(self.space, len(rows), np.zeros)
        flags = {"terminations": terminations, "truncations": truncations, "active": dict.fromkeys(observations, True)}
        return {
            "observations": concatenate(self.space, rows, empty),
            "rewards": np.array([rewards.get(name, 0.0) for name in self.names], np.float64),
            **{key: np.array([one.get(name, False) for name in self.names], np.int8) for key, one in flags.items()},
        }

    def _by_position(self, infos: Any) -> Any:
        return {at: infos[name] for at, name in enumerate(self.names) if infos.get(name)}

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

"""A parallel environment of PettingZoo as one environment of Gymnasium: all its agents step at once."""

from math import fsum  # one value on every Python
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Dict
from gymnasium.vector.utils import batch_space, create_empty_array, iterate

Observations = dict[str, Any]


class AllAgents(gymnasium.Env[Observations, dict[str, Any]]):
    """Observations and actions are dictionaries by agent; of an agent that is gone the observation is zeros, and its
    action counts for nothing. The reward is the sum; an episode ends with its last agent.
    """

    def __init__(self, parallel: Any) -> None:
        self.parallel = parallel
        agents = parallel.possible_agents
        self.observation_space = Dict({agent: parallel.observation_space(agent) for agent in agents})
        self.action_space = Dict({agent: parallel.action_space(agent) for agent in agents})
        space = self.observation_space
        self._absent = next(iter(iterate(batch_space(space, 1), create_empty_array(space, 1, np.zeros))))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin the next episode."""
        super().reset(seed=seed)
        observations, infos = self.parallel.reset(seed=seed, options=options)
        return self._whole(observations), infos

    def step(self, action: dict[str, Any]) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Step all agents that are there."""
        told = {agent: action[agent] for agent in self.parallel.agents}
        observations, rewards, terminated, _, infos = self.parallel.step(told)
        over = not self.parallel.agents
        ended = over and all(terminated.values())
        return self._whole(observations), fsum(rewards.values()), ended, over and not ended, infos

    def close(self) -> None:
        """Close the environment."""
        self.parallel.close()

    def _whole(self, observations: Observations) -> Observations:
        return {agent: observations.get(agent, zeros) for agent, zeros in self._absent.items()}

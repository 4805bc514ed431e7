"""The hub's side of Traffic Junction: episode after episode, joint observation out and joint action in."""

from collections.abc import Sequence
from time import thread_time_ns
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from workloads.made_up import keep_busy
from workloads.multi_agent.traffic_junction import Observation, TrafficJunction

# The joint observation, in one array or as `tensors` has it.
Message: TypeAlias = Any


class Episodes:
    """Steps the environment and begins the next episode, with the next seed, where one ends. A step of the environment
    takes `step_busy_us` at least, in which the processor is busy.

    `observation` is what every agent sees now: float32, (cars * 9 * (cars + 5),), read-only. `total_reward`
    is the sum over all agents and steps so far, `finished` the number of episodes that ended.
    """

    def __init__(self, env: TrafficJunction, seed: int, step_busy_us: float = 0.0) -> None:
        self.observation: Observation
        self.total_reward = 0.0
        self.finished = 0
        self.agents = len(env.possible_agents)
        self._env = env
        self._seed = seed
        self._busy_ns = step_busy_us * 1e3
        self._reset()

    @property
    def message(self) -> Message:
        """The message to every agent: the observation."""
        return self.observation

    def step(self, actions: Sequence[int]) -> npt.NDArray[np.float64]:
        """Apply one action per agent and return the rewards (agents,); 0 for an agent whose car has left."""
        env = self._env
        # Every agent acts each round, but the environment takes actions of live agents only.
        joint_action = dict(zip(env.possible_agents, actions, strict=True))
        began_ns = thread_time_ns() if self._busy_ns else 0  # a look costs as much as a part of a step
        observations, by_agent, _, _, _ = env.step({agent: joint_action[agent] for agent in env.agents})
        if self._busy_ns:
            keep_busy(began_ns, self._busy_ns)
        rewards = np.array([by_agent.get(agent, 0.0) for agent in env.possible_agents])
        self.total_reward += float(rewards.sum())
        if env.agents:
            self.observation = observations[env.agents[0]]
        else:
            self.finished += 1
            self._reset()
        return rewards

    def _reset(self) -> None:
        observations, _ = self._env.reset(seed=self._seed + self.finished)
        self.observation = observations[self._env.agents[0]]

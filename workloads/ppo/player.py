"""A player: one environment, stepped with the learner's actions, and its replies.

A reply is one array of float32: the flat observation, the reward, and 1 where the episode has ended. After an end,
the observation is the first of the next episode.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from workloads.ppo.task import Task

Reply: TypeAlias = npt.NDArray[np.float32]
Actions: TypeAlias = npt.NDArray[np.int64]
# Observations (players, features), rewards (players,) and 1 where an episode has ended (players,), all float32.
Step: TypeAlias = tuple[Reply, Reply, Reply]


class Player:
    """Environment `index` of a task, seeded `seed + index`."""

    def __init__(self, task: Task, index: int) -> None:
        self._index = index
        self.environment = task.make_environment()
        self._first, _ = self.environment.reset(seed=task.seed + index)

    def begin(self) -> Reply:
        """The observation before the first step."""
        return _packed(self._first, 0.0, False)

    def step(self, actions: Actions) -> Reply:
        """Take this player's own of the actions (players,)."""
        return self.take(actions[self._index])

    def take(self, action: np.int64) -> Reply:
        """Step, and begin the next episode where one ends."""
        observation, reward, terminated, truncated, _ = self.environment.step(action)
        ended = terminated or truncated
        if ended:
            observation, _ = self.environment.reset()
        return _packed(observation, float(reward), ended)


def joined(replies: Sequence[Reply]) -> Step:
    """The replies of all players, in their order."""
    rows = np.stack(replies)
    return rows[:, :-2], rows[:, -2], rows[:, -1]


def _packed(observation: npt.NDArray[np.generic], reward: float, ended: bool) -> Reply:
    reply = np.empty(observation.size + 2, np.float32)
    reply[:-2] = observation.ravel()
    reply[-2:] = reward, ended
    return reply

"""The replay buffer: the latest transitions, and the minibatches drawn from them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workloads.q_learning.transition import TRANSITION, Drawn, Trajectory

# How a minibatch is chosen: at random with replacement, or the oldest entries as in the paper's program.
MINIBATCH_POLICIES = ("sample", "oldest")


class Ring:
    """Which slots of a ring of `capacity` slots to write and to read; holds no entries itself.

    `minibatch` entries are drawn at a time, or all while there are fewer.
    """

    def __init__(self, capacity: int, minibatch: int, policy: str, generator: np.random.Generator) -> None:
        self.capacity = capacity
        self._minibatch = minibatch
        self._policy = policy
        self._generator = generator
        self._next = 0
        self._size = 0

    def place(self, count: int) -> npt.NDArray[np.int64]:
        """The slots for `count` (at most `capacity`) new entries; the oldest entries give way."""
        slots = (self._next + np.arange(count)) % self.capacity
        self._next = (self._next + count) % self.capacity
        self._size = min(self._size + count, self.capacity)
        return slots

    def draw(self) -> npt.NDArray[np.int64]:
        """The slots of the next minibatch."""
        count = min(self._minibatch, self._size)
        if self._policy == "oldest":
            ages = np.arange(count)
        else:
            ages = self._generator.integers(self._size, size=count)
        return (self._next - self._size + ages) % self.capacity


class ReplayBuffer:
    """The latest transitions in one array of dtype TRANSITION."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._slots: Any = np.zeros(ring.capacity, dtype=TRANSITION)

    def exchange(self, trajectories: Sequence[Trajectory]) -> Drawn:
        """Append what the workers produced, in their order, and draw.

        Returns a minibatch (a copy) and the rewards just appended.
        """
        transitions = np.concatenate(trajectories)[-self._ring.capacity :]
        self._slots[self._ring.place(len(transitions))] = transitions
        rewards = np.stack([trajectory["reward"] for trajectory in trajectories])
        return self._slots[self._ring.draw()], rewards

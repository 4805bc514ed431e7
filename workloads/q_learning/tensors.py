"""The paper's representation: the network's state_dict and lists of single transitions, observations in small tensors.

Takes the place of contiguous arrays and computes the same bits from the same draws. Only the cost of making, sending
and joining the values differs.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from workloads.q_learning.learner import Learner
from workloads.q_learning.replay import ReplayBuffer, Ring
from workloads.q_learning.rollout import RolloutWorker
from workloads.q_learning.transition import Drawn, Transition

# Observation, action, reward, next observation, whether the episode ended there.
TensorTransition = tuple[Tensor, int, float, Tensor, bool]
State = dict[str, Tensor]


class TensorRolloutWorker(RolloutWorker):
    """A rollout worker that is sent a state_dict and replies with single transitions."""

    def roll(self, parameters: State) -> list[TensorTransition]:  # type: ignore[override]
        """Load the learner's parameters and return the round's transitions."""
        self.network.load_state_dict(parameters)
        return [with_tensors(transition) for transition in self.collect()]


class TensorReplayBuffer(ReplayBuffer):
    """The latest transitions by slot, in a dictionary."""

    def __init__(self, ring: Ring) -> None:
        super().__init__(ring)
        self._slots = {}

    def exchange(self, trajectories: Sequence[Sequence[TensorTransition]]) -> Drawn:
        """Append what the workers produced, in their order, and draw: a minibatch and the rewards just appended."""
        transitions = [transition for trajectory in trajectories for transition in trajectory][-self._ring.capacity :]
        for slot, transition in zip(self._ring.place(len(transitions)), transitions, strict=True):
            self._slots[slot] = transition
        rewards = np.array([[transition[2] for transition in trajectory] for trajectory in trajectories], np.float32)
        return [self._slots[slot] for slot in self._ring.draw()], rewards


class TensorLearner(Learner):
    """A learner that sends its state_dict and is given single transitions."""

    def parameters(self) -> State:  # type: ignore[override]
        """A copy of the network's parameters by their names."""
        return {name: weights.clone() for name, weights in self.network.state_dict().items()}

    def learn(self, minibatch: Sequence[TensorTransition]) -> None:  # type: ignore[override]
        """Take one step on a minibatch of single transitions."""
        states, actions, rewards, next_states, done = zip(*minibatch, strict=True)
        self._step(
            torch.stack(states),
            torch.tensor(actions),
            torch.tensor(rewards),
            torch.stack(next_states),
            torch.tensor(done),
        )


def with_tensors(transition: Transition) -> TensorTransition:
    """The transition with its observations as small tensors."""
    observation, action, reward, following, done = transition
    return (
        torch.tensor(observation, dtype=torch.float32),
        action,
        reward,
        torch.tensor(following, dtype=torch.float32),
        done,
    )

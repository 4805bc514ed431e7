"""The learner: one step of Q-learning with a target network per minibatch.

Mnih et al., "Human-level control through deep reinforcement learning", 2015; here with the mean squared error
and Adam.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from workloads.perceptron import load_parameters, make_perceptron, parameters_of
from workloads.q_learning.rollout import HIDDEN
from workloads.q_learning.transition import ACTIONS, FEATURES, Transitions


class Learner:
    """Owns the network, its target copy (renewed every `target_rounds` steps) and the optimizer."""

    def __init__(self, generator: np.random.Generator, learning_rate: float, gamma: float, target_rounds: int) -> None:
        torch.set_num_threads(1)
        sizes = (FEATURES, HIDDEN, ACTIONS)
        self.network = make_perceptron(sizes, generator)
        self._target = make_perceptron(sizes, generator).requires_grad_(False)
        self._optimizer = torch.optim.Adam(self.network.parameters(), lr=learning_rate)
        self._gamma = gamma
        self._target_rounds = target_rounds
        self._steps = 0
        self._renew_target()

    def final_state(self) -> npt.NDArray[np.float32]:
        """A copy of the network's parameters as one vector."""
        return parameters_of(self.network)

    def parameters(self) -> npt.NDArray[np.float32]:
        """The message to rollout workers: the network's parameters."""
        return self.final_state()

    def learn(self, minibatch: Transitions) -> None:
        """Take one step on a minibatch (n,) of dtype TRANSITION, which may be read-only."""
        self._step(*(_tensor(minibatch[name]) for name in minibatch.dtype.names or ()))

    def _step(self, states: Tensor, actions: Tensor, rewards: Tensor, next_states: Tensor, done: Tensor) -> None:
        best = self._target(next_states).max(dim=1).values
        expected = rewards + self._gamma * best * ~done
        chosen = self.network(states).gather(1, actions[:, None])[:, 0]
        self._optimizer.zero_grad()
        nn.functional.mse_loss(chosen, expected).backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self._steps += 1
        if self._steps % self._target_rounds == 0:
            self._renew_target()

    def _renew_target(self) -> None:
        load_parameters(self._target, self.final_state())


def _tensor(field: npt.NDArray[Any]) -> Tensor:
    # A copy of torch's own, which has the alignment of every other tensor and is contiguous.
    return torch.tensor(np.ascontiguousarray(field))

"""A rollout worker: one Blackjack environment and the network that plays it epsilon-greedily."""

import gymnasium
import numpy as np
import torch

from workloads.perceptron import ArgmaxPolicy, Vector, load_parameters, make_perceptron
from workloads.q_learning.transition import ACTIONS, FEATURES, Observation, Transition, Transitions, pack

HIDDEN = 32


class RolloutWorker:
    """Plays `steps` steps per round, episodes running on from round to round.

    The environment is seeded with `seed + index`, exploration with a generator of its own from (seed, index).
    """

    def __init__(self, seed: int, index: int, steps: int, epsilon: float) -> None:
        torch.set_num_threads(1)
        self._generator = np.random.default_rng([seed, index])
        self._steps = steps
        self._epsilon = epsilon
        self.network = make_perceptron((FEATURES, HIDDEN, ACTIONS), self._generator)
        self._policy = ArgmaxPolicy(self.network, FEATURES)
        self._env = gymnasium.make("Blackjack-v1")
        self._observation, _ = self._env.reset(seed=seed + index)

    def roll(self, parameters: Vector) -> Transitions:
        """Load the learner's parameters and return the round's transitions in one array."""
        load_parameters(self.network, parameters)
        return pack(self.collect())

    def collect(self) -> list[Transition]:
        """The next `steps` transitions under the network as it is now."""
        transitions: list[Transition] = []
        observation = self._observation
        for _ in range(self._steps):
            action = self._choose(observation)
            following, reward, terminated, truncated, _ = self._env.step(action)
            done = terminated or truncated
            transitions.append((observation, action, float(reward), following, done))
            observation = self._env.reset()[0] if done else following
        self._observation = observation
        return transitions

    def _choose(self, observation: Observation) -> int:
        if self._generator.random() < self._epsilon:
            return int(self._generator.integers(ACTIONS))
        return self._policy.act(observation)

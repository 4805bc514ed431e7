"""The reinforcement-learning pipeline of the paper: rollout, replay and learner reactors, six of each.

Every rollout walks a corridor with its copy of the policy. Its replay buffer hands samples of the walks to its
learner. The gradients of all learners go to all rollouts, one microstep later. Runs in well under a second:

    python -m reactorlib run examples/rl_pipeline.py:Pipeline
"""

import math
import random

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, request_stop, startup

CORRIDOR = 6  # the goal is the last cell
LIMIT = 30  # steps after which a walk is given up
Walk = tuple[list[tuple[int, int]], float]  # (cell, 1 for a step ahead or 0 for one back) at each step; the reward


def ahead(weight: float) -> float:
    """The probability of a step ahead."""
    return 1 / (1 + math.exp(-weight))


class Rollout(Reactor):
    """Applies the gradients of all learners to its copy of the policy, and takes a walk with it."""

    gradients = Input[list[float]](width="learners")
    trajectory = Output[Walk]()

    def __init__(self, learners: int):
        self.random = random.Random(self.bank_index)
        self.policy = [0.0] * CORRIDOR

    @reaction(gradients, effects=trajectory)
    def roll(self, gradients, trajectory):
        """Take one walk with the newest policy."""
        for cell in range(CORRIDOR):
            self.policy[cell] += 2.0 * math.fsum(gradient.value[cell] for gradient in gradients) / len(gradients)
        cell, steps = 0, []
        while cell < CORRIDOR - 1 and len(steps) < LIMIT:
            step = int(self.random.random() < ahead(self.policy[cell]))
            steps.append((cell, step))
            cell = max(0, cell + (1 if step else -1))
        trajectory.set((steps, 1 - len(steps) / LIMIT))


class Replay(Reactor):
    """Keeps the newest walks and hands out a sample of them."""

    trajectory = Input[Walk]()
    dataset = Output[list[Walk]]()

    def __init__(self, capacity: int = 8):
        self.capacity = capacity
        self.random = random.Random(100 + self.bank_index)
        self.walks: list[Walk] = []

    @reaction(trajectory, effects=dataset)
    def sample(self, trajectory, dataset):
        """Keep the walk, hand out four."""
        self.walks = [*self.walks, trajectory.value][-self.capacity :]
        dataset.set(self.random.choices(self.walks, k=4))


class Learner(Reactor):
    """Computes the gradient of the expected reward (REINFORCE) from a sample of walks."""

    dataset = Input[list[Walk]]()
    gradients = Output[list[float]]()

    def __init__(self, rounds: int):
        self.rounds = rounds
        self.round = 0
        self.policy = [0.0] * CORRIDOR

    @reaction(startup, effects=gradients)
    def begin(self, gradients):
        """Start the first round: no change yet."""
        gradients.set([0.0] * CORRIDOR)

    @reaction(dataset, effects=gradients)
    def learn(self, dataset, gradients):
        """Send the gradient to all rollouts, until all rounds are done."""
        rewards = [reward for _, reward in dataset.value]
        # `fsum` is exact on every Python; `sum` has become more exact in 3.12, and digests with it.
        mean = math.fsum(rewards) / len(rewards)
        gradient = [0.0] * CORRIDOR
        for steps, reward in dataset.value:
            for cell, step in steps:
                gradient[cell] += (reward - mean) * (step - ahead(self.policy[cell])) / len(dataset.value)
        self.policy = [weight + change for weight, change in zip(self.policy, gradient, strict=True)]
        self.round += 1
        if self.bank_index == 0 and self.round in (1, 10, 20, self.rounds):
            print(f"round {self.round}: mean reward {mean:.2f}")
        if self.round < self.rounds:
            gradients.set(gradient)
        else:
            request_stop()


class Pipeline(Reactor):
    """`n` of each, as in the paper's figure."""

    def __init__(self, n: int = 6, rounds: int = 60):
        self.rollout = Bank(Rollout, n, learners=n)
        self.replay = Bank(Replay, n)
        self.learner = Bank(Learner, n, rounds)
        connect(self.rollout.trajectory, self.replay.trajectory)
        connect(self.replay.dataset, self.learner.dataset)
        connect(self.learner.gradients, self.rollout.gradients, after=0)  # all to each, one microstep later

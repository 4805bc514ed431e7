"""Q-learning on Blackjack: its parameters, and the three parts that every backend arranges in its own way.

A round: the network's parameters go to every rollout worker, and each takes `steps` epsilon-greedy steps with them.
The replay buffer appends all transitions and hands out a minibatch. The learner takes one step on it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from workloads.digest import Digest, NoDigest
from workloads.parameter import parameter
from workloads.q_learning.replay import MINIBATCH_POLICIES, ReplayBuffer, Ring
from workloads.tasks import ARRAYS, CommonTask, representation

if TYPE_CHECKING:
    from workloads.q_learning.learner import Learner
    from workloads.q_learning.rollout import RolloutWorker


@dataclass(frozen=True)
class Task(CommonTask):
    """The parameters and makers of what they seed; the defaults are the paper's, but for the sampling."""

    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "steps/s"

    actors: int = parameter(16, "rollout workers, each with its own environment", minimum=1)
    steps: int = parameter(100, "environment steps per worker and round", minimum=1)
    minibatch: int = parameter(250, "transitions per learning step", minimum=1)
    minibatch_policy: str = parameter(
        "sample", "how a minibatch is chosen: at random, or the oldest entries", choices=MINIBATCH_POLICIES
    )
    representation: str = representation("parameters and transitions")
    capacity: int = parameter(20_000, "transitions that the replay buffer holds", minimum=1)
    learning_rate: float = parameter(0.01, "step size of Adam", minimum=0)
    gamma: float = parameter(0.99, "discount per step", minimum=0, maximum=1)
    epsilon: float = parameter(0.1, "probability of a random action", minimum=0, maximum=1)
    target_rounds: int = parameter(10, "rounds between copies to the target network", minimum=1)
    rounds: int = parameter(1_000, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(2, "rounds before the measured ones; they train as well", minimum=0)
    seed: int = parameter(0, "seed of environments, exploration, sampling and network", minimum=0)

    @property
    def scenario(self) -> str:
        """The environment's id."""
        return "Blackjack-v1"

    @property
    def units_per_round(self) -> int:
        """Environment steps per round over all workers."""
        return self.actors * self.steps

    def make_rollout_worker(self, index: int) -> "RolloutWorker":
        """The worker of this index."""
        from workloads.q_learning.rollout import RolloutWorker  # imports torch
        from workloads.q_learning.tensors import TensorRolloutWorker

        chosen = RolloutWorker if self.representation == ARRAYS else TensorRolloutWorker
        return chosen(self.seed, index, self.steps, self.epsilon)

    def make_ring(self) -> Ring:
        """The order in which a replay buffer is written and read."""
        # Generators after the workers' own: actors for the replay buffer, actors + 1 for the learner.
        generator = np.random.default_rng([self.seed, self.actors])
        return Ring(self.capacity, self.minibatch, self.minibatch_policy, generator)

    def make_replay_buffer(self) -> ReplayBuffer:
        """The empty replay buffer."""
        if self.representation == ARRAYS:
            return ReplayBuffer(self.make_ring())
        from workloads.q_learning.tensors import TensorReplayBuffer  # imports torch

        return TensorReplayBuffer(self.make_ring())

    def make_learner(self) -> "Learner":
        """The learner with the initial network."""
        from workloads.q_learning.learner import Learner  # imports torch
        from workloads.q_learning.tensors import TensorLearner

        chosen = Learner if self.representation == ARRAYS else TensorLearner
        generator = np.random.default_rng([self.seed, self.actors + 1])
        return chosen(generator, self.learning_rate, self.gamma, self.target_rounds)

    @staticmethod
    def record(digest: Digest | NoDigest, rewards: npt.NDArray[np.float32], learner: "Learner") -> None:
        """Add a round's rewards (actors, steps) to the digest, one stream per worker, and the learner's parameters."""
        for index, of_worker in enumerate(rewards):
            digest.add(index, of_worker)
        digest.add(len(rewards), learner.final_state())

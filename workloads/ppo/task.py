"""Proximal policy optimization: its parameters, and the two parts that every backend arranges in its own way.

A step: the learner's actions go to every player. Each takes one step with its own action and replies with the result. A
round: `steps` of these, and then the learner learns from all of them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
from gymnasium.spaces import Box, Discrete

from workloads.digest import Digest, NoDigest
from workloads.parameter import ParameterError, parameter
from workloads.sampling import EnvironmentTask

if TYPE_CHECKING:
    from workloads.ppo.learner import Learner


@dataclass(frozen=True)
class Task(EnvironmentTask):
    """The parameters and makers of what they seed; the defaults are CleanRL's, but for 16 environments, not 4.

    Its learning rate falls to 0 in the course of a run; here it stays, for rounds have no end.
    """

    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "steps/s"

    actors: int = parameter(16, "environments, each in its own worker", minimum=1)
    env: str = parameter("CartPole-v1", "environment: an id, package:id, file.py:function or busy:2ms:84x84x4")
    steps: int = parameter(128, "steps of each environment in a round", minimum=1)
    minibatches: int = parameter(4, "minibatches that the steps of a round are cut into", minimum=1)
    epochs: int = parameter(4, "how often the learner goes through the steps of a round", minimum=1)
    learning_rate: float = parameter(2.5e-4, "step size of Adam", minimum=0)
    gamma: float = parameter(0.99, "discount per step", minimum=0, maximum=1)
    gae_lambda: float = parameter(0.95, "weight of later errors in an advantage", minimum=0, maximum=1)
    rounds: int = parameter(100, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(2, "rounds before the measured ones; they train as well", minimum=0)
    seed: int = parameter(0, "seed: environment i takes seed + i; networks, actions and minibatches",
                          minimum=0, maximum=2**31)  # fmt: skip

    def __post_init__(self) -> None:
        """Check the parameters; raises ParameterError."""
        super().__post_init__()
        if self.minibatches > self.actors * self.steps:
            raise ParameterError(
                f"minibatches: at most the {self.actors * self.steps} steps of a round, got {self.minibatches}"
            )
        self.make_environment().close()

    @property
    def units_per_round(self) -> int:
        """Environment steps per round over all players."""
        return self.actors * self.steps

    def make_environment(self) -> gymnasium.Env[Any, Any]:
        """A new environment; raises ParameterError where it can't be made, or is none that this learner knows."""
        made = super().make_environment()
        spaces = made.observation_space, made.action_space
        if not isinstance(spaces[0], Box) or not isinstance(spaces[1], Discrete) or spaces[1].start != 0:
            raise ParameterError(
                f"env: PPO here is for Box observations and Discrete actions from 0 on, {self.env} has {spaces}"
            )
        return made

    def make_learner(self) -> "Learner":
        """The learner with the initial networks."""
        from workloads.ppo.learner import Learner  # imports torch

        made = self.make_environment()
        assert made.observation_space.shape is not None
        assert isinstance(made.action_space, Discrete)
        learner = Learner(self, made.observation_space.shape, int(made.action_space.n))
        made.close()
        return learner

    @staticmethod
    def record(digest: Digest | NoDigest, learner: "Learner") -> None:
        """Add a round's steps to the digest, before the learner forgets them, and its parameters."""
        digest.add(0, *learner.seen(), learner.final_state())

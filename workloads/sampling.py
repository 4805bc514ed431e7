"""Random sampling of Gymnasium environments: the parameters and the sampler that every backend runs alike.

Owns seeding, stepping and resetting. The sampling workloads differ in the environments that they make.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium

from workloads import environment
from workloads.digest import Digest, NoDigest
from workloads.parameter import ParameterError, parameter, unknown
from workloads.tasks import CommonTask

# Observation, reward, terminated, truncated.
StepResult = tuple[Any, Any, bool, bool]
# One step's result, or a tuple of several when a message asks for several steps.
Reply = Any


class EnvironmentTask(CommonTask):
    """The parameters of a workload on environments, of which the parameter `env` has the name."""

    env: str

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "env", environment.whole(self.env))
        if not environment.known(self.environment_id):
            raise ParameterError(unknown("env", self.env, self.environment_names()))

    @property
    def scenario(self) -> str:
        """The environment's name, of a path the last part."""
        return self.env.rpartition("/")[2] if ".py:" in self.env else self.env

    @property
    def environment_id(self) -> str:
        """The name of the environment, see `workloads.environment`."""
        return self.env

    @property
    def environment_options(self) -> dict[str, Any]:
        """Arguments of the environment, instead of its defaults."""
        return {}

    @staticmethod
    def environment_names() -> list[str]:
        """The names that `env` takes."""
        return list(gymnasium.registry)

    def make_environment(self) -> gymnasium.Env[Any, Any]:
        """A new environment; raises ParameterError when it can't be made."""
        return environment.make(self.environment_id, self.environment_options)


@dataclass(frozen=True)
class SamplingTask(EnvironmentTask):
    """Parameters of a sampling workload."""

    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "observations/s"

    actors: int = parameter(15, "environments, each in its own worker", minimum=1)
    env: str = parameter("CartPole-v1", "environment: an id, package:id, file.py:function or busy:2ms:84x84x4")
    steps_per_message: int = parameter(1, "environment steps that a worker takes per message", minimum=1)
    seed: int = parameter(0, "seed: environment i and its action space take seed + i", minimum=0)
    rounds: int = parameter(10_000, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(100, "rounds before the measured ones", minimum=0)

    @property
    def units_per_round(self) -> int:
        """Observations that a round yields."""
        return self.actors * self.steps_per_message

    def record(self, digest: Digest | NoDigest, replies: list[Reply]) -> None:
        """Add a round's replies to the digest, one stream per environment."""
        for index, reply in enumerate(replies):
            for result in (reply,) if self.steps_per_message == 1 else reply:
                digest.add(index, *comparable(result))

    def final_state(self, replies: list[Reply]) -> list[StepResult]:
        """The last step result of every environment, from the last round's replies."""
        return [comparable(reply if self.steps_per_message == 1 else reply[-1]) for reply in replies]


def comparable(result: StepResult) -> StepResult:
    """A step's result with its reward as a float: some environments return an int, which a vector of them turns
    into one.
    """
    observation, reward, terminated, truncated = result
    return observation, float(reward), terminated, truncated


class Sampler:
    """Environment `index` of a task with a random policy of its own, both seeded `seed + index`."""

    def __init__(self, task: SamplingTask, index: int) -> None:
        self.environment = task.make_environment()
        self.environment.reset(seed=task.seed + index)
        self._take = self.environment.step
        self._draw = environment.random_actions(self.environment, task.seed + index)
        self._more = range(task.steps_per_message - 1)

    def step_message(self, _step: int) -> Reply:
        """Answer the message that carries step number `_step`, which by itself decides nothing."""
        first = self._step()
        if not self._more:
            return first
        return (first, *(self._step() for _ in self._more))

    def _step(self) -> StepResult:
        observation, reward, terminated, truncated, _ = self._take(self._draw())
        if terminated or truncated:
            self.environment.reset()
        return observation, reward, terminated, truncated

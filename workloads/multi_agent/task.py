"""Traffic Junction with a policy network per agent: its parameters, and the makers of the two sides.

A round: the hub broadcasts the joint observation, every agent answers with an action, and the hub steps the
environment with the joint action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from workloads.digest import Digest, NoDigest
from workloads.multi_agent.episodes import Episodes
from workloads.multi_agent.traffic_junction import ARRIVALS, VIEW_CELLS, TrafficJunction
from workloads.parameter import ParameterError, parameter
from workloads.tasks import ARRAYS, CommonTask, representation

if TYPE_CHECKING:
    from workloads.perceptron import ArgmaxPolicy


@dataclass(frozen=True)
class Task(CommonTask):
    """The parameters, and makers of the parts that they seed. The defaults are the paper's, which has 10 agents as
    well."""

    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "steps/s"

    agents: int = parameter(4, "cars, each with its own policy network and worker", minimum=1)
    arrival_probability: float = parameter(
        0.5, "probability that a free entry admits a car in a step", minimum=0, maximum=1
    )
    arrivals: str = parameter(
        "random",
        "who is admitted: at every free entry a car with arrival_probability, or as in the paper four cars at the "
        "start and then one a step; returns of the two are not comparable",
        choices=ARRIVALS,
    )
    representation: str = representation("the joint observation")
    step_busy_us: float = parameter(
        0.0,
        "the least time of an environment step, busy: the paper's takes 130 to 250 us where this one takes 25",
        minimum=0,
        maximum=1e6,
    )
    episode_steps: int = parameter(100, "steps after which an episode is cut off", minimum=1)
    rounds: int = parameter(100_000, "measured rounds, one environment step each", minimum=1)
    warmup_rounds: int = parameter(100, "rounds before the measured ones", minimum=0)
    seed: int = parameter(0, "seed of the first episode and of the policy networks", minimum=0)

    def __post_init__(self) -> None:
        """Check the parameters; raises ParameterError."""
        super().__post_init__()
        if self.arrivals == "paper" and self.arrival_probability != type(self).arrival_probability:
            raise ParameterError("arrival_probability: arrivals=paper admits a car in every step")

    @property
    def scenario(self) -> str:
        """The environment's name."""
        return "TrafficJunction"

    @property
    def units_per_round(self) -> int:
        """Environment steps per round."""
        return 1

    @property
    def members(self) -> int:
        """Agents that can be placed apart."""
        return self.agents

    @property
    def features(self) -> int:
        """Numbers in the joint observation: the views of all agents."""
        return self.agents * VIEW_CELLS * (self.agents + 5)

    def make_episodes(self) -> Episodes:
        """The environment, at the start of its first episode."""
        env = TrafficJunction(self.agents, self.arrival_probability, self.episode_steps, self.arrivals)
        if self.representation == ARRAYS:
            return Episodes(env, self.seed, self.step_busy_us)
        from workloads.multi_agent.tensors import TensorEpisodes  # imports torch

        return TensorEpisodes(env, self.seed, self.step_busy_us)

    def make_policy(self, agent: int) -> "ArgmaxPolicy":
        """The policy of an agent."""
        from workloads.multi_agent.policy import make_policy  # imports torch
        from workloads.multi_agent.tensors import TensorPolicy
        from workloads.perceptron import ArgmaxPolicy

        kind = ArgmaxPolicy if self.representation == ARRAYS else TensorPolicy
        return make_policy(self.features, self.seed, agent, kind)

    @staticmethod
    def record(digest: Digest | NoDigest, actions: Sequence[int], rewards: npt.NDArray[np.float64]) -> None:
        """Add a round's joint action and rewards to the digest."""
        digest.add(0, list(actions), rewards)

    @staticmethod
    def final_state(episodes: Episodes) -> tuple[object, ...]:
        """Where the environment ended."""
        return episodes.observation, episodes.total_reward, episodes.finished

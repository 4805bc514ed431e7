"""RLlib on a session of the suite: what its workloads have in common."""

from typing import TYPE_CHECKING, Any

from reactorlib import cpus

if TYPE_CHECKING:  # RLlib is in an environment of its own, and the number of runners is asked for in every other
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig

_ENVIRONMENT = "suite"


def runners_of(actors: int) -> int:
    """How many env runners sample so many environments: the most up to one per core that divide them evenly.

    All runners of RLlib have equal numbers of environments.
    """
    return next(count for count in range(min(actors, cpus.available_cpus()), 0, -1) if actors % count == 0)


def configured(config: "AlgorithmConfig", task: Any, fragment: int) -> "AlgorithmConfig":
    """Have a configuration sample the task's environments by its env runners.

    `fragment`: the steps of each environment that RLlib asks for at a time.
    """
    from ray.tune.registry import register_env

    register_env(_ENVIRONMENT, lambda _: task.make_environment())
    runners = runners_of(task.actors)
    return (
        config.environment(_ENVIRONMENT)
        .debugging(seed=task.seed, log_level="ERROR")
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=task.actors // runners,
            num_cpus_per_env_runner=0,  # as the suite's own actors: they start on a machine of any size
            rollout_fragment_length=fragment,
        )
    )

"""RLlib on a session of the suite: what its workloads have in common."""

from typing import Any

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.tune.registry import register_env

from workloads.parameter import UnsupportedError

# As many as RLlib's PPO has by default.
RUNNERS = 2
_ENVIRONMENT = "suite"


def configured(config: AlgorithmConfig, task: Any, fragment: int) -> AlgorithmConfig:
    """Have a configuration sample the task's environments by two env runners. Raises UnsupportedError.

    `fragment`: the steps of each environment that RLlib asks for at a time.
    """
    if task.actors % RUNNERS:
        raise UnsupportedError(
            f"RLlib's {RUNNERS} env runners have equal numbers of environments: {task.actors} is no multiple"
        )
    register_env(_ENVIRONMENT, lambda _: task.make_environment())
    return (
        config.environment(_ENVIRONMENT)
        .debugging(seed=task.seed, log_level="ERROR")
        .env_runners(
            num_env_runners=RUNNERS,
            num_envs_per_env_runner=task.actors // RUNNERS,
            num_cpus_per_env_runner=0,  # as the suite's own actors: they start on a machine of any size
            rollout_fragment_length=fragment,
        )
    )

"""Sampling with random actions by RLlib's env runners, each with its share of the environments in one vector."""

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.env.env_runner_group import EnvRunnerGroup

from workloads.probe import Probe
from workloads.ray_session import session
from workloads.rllib_runners import configured, runners_of
from workloads.sampling import SamplingTask

# Runners keep every episode until they are asked for their metrics, as an algorithm of RLlib does in each iteration.
_ROUNDS_BETWEEN_METRICS = 100


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe.

    The configuration is of no algorithm, so the runners have no network. A runner asked for a number of steps returns
    that many, or up to one more for each of its environments. It is asked for fewer in the next round.
    """
    with session("tuned", probe):
        runners = EnvRunnerGroup(
            config=configured(AlgorithmConfig(), task, task.steps_per_message), local_env_runner=False
        )
        try:
            _sample(task, probe, runners)
        finally:
            runners.stop()


def _sample(task: SamplingTask, probe: Probe, runners: EnvRunnerGroup) -> None:
    count = runners_of(task.actors)
    owed, share = [0] * count, task.units_per_round // count
    probe.ready()
    for index in range(task.total_rounds):
        owed = [steps + share for steps in owed]
        episodes = runners.foreach_env_runner(
            ["sample"] * count,
            kwargs=[{"num_timesteps": max(0, steps), "random_actions": True} for steps in owed],
            local_env_runner=False,
        )
        owed = [steps - sum(map(len, one)) for steps, one in zip(owed, episodes, strict=True)]
        if index % _ROUNDS_BETWEEN_METRICS == 0:
            runners.foreach_env_runner("get_metrics", local_env_runner=False)
        probe.round()
    probe.state()

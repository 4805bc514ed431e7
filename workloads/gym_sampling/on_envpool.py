"""Sampling with EnvPool: its own environments in C++, stepped by its own threads."""

import warnings
from collections.abc import Mapping

from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import SamplingTask
from workloads.vector_sampling import sample

try:
    import envpool
except ImportError:
    raise UnsupportedError.missing("envpool") from None


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    run_pool(task, probe, task.env, {})


def run_pool(task: SamplingTask, probe: Probe, name: str, options: Mapping[str, object]) -> None:
    """Run all rounds on the pool of this name, made with these options beside size and seed."""
    if name not in envpool.list_all_envs():
        raise UnsupportedError(f"EnvPool has no environment {name}")
    with warnings.catch_warnings():
        # Its spaces have bounds of another precision than their elements, which Gymnasium warns of.
        warnings.simplefilter("ignore")
        envs = envpool.make(name, env_type="gymnasium", num_envs=task.actors, seed=task.seed, **options)
        envs.reset()
    try:
        sample(task, probe, envs, envs.action_space)
    finally:
        envs.close()

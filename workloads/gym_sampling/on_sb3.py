"""Sampling with Stable-Baselines3's SubprocVecEnv: a process per environment, values through pipes."""

from functools import partial
from typing import Any

from workloads.gym_sampling.on_gymnasium import SelfActing
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import SamplingTask
from workloads.vector_sampling import step_all

try:
    from stable_baselines3.common.vec_env import SubprocVecEnv
except ImportError:
    raise UnsupportedError.missing("stable-baselines3", "vectors") from None


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    makers: list[Any] = [partial(SelfActing, task, index) for index in range(task.actors)]
    envs = SubprocVecEnv(makers, start_method="fork")
    try:
        envs.seed(task.seed)  # environment i takes seed + i
        envs.reset()
        actions = [envs.action_space.sample() for _ in makers]
        step_all(task, probe, lambda: envs.step(actions))
    finally:
        envs.close()

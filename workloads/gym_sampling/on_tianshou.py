"""Sampling with Tianshou's ShmemVectorEnv: a process per environment, observations in shared memory."""

from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
from gymnasium.spaces import Tuple

from workloads.gym_sampling.on_gymnasium import SelfActing
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import SamplingTask
from workloads.vector_sampling import step_all

try:
    from tianshou.env import ShmemVectorEnv
except ImportError:
    raise UnsupportedError.missing("tianshou", "vectors") from None


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe. The caller of such a vector resets the environments that
    have ended."""
    with closing(task.make_environment()) as made:
        is_tuple = isinstance(made.observation_space, Tuple)
    if is_tuple:
        raise UnsupportedError(f"Tianshou has no shared memory for what {task.env} returns")
    makers: list[Any] = [partial(SelfActing, task, index) for index in range(task.actors)]
    envs = ShmemVectorEnv(makers)
    try:
        envs.seed(task.seed)  # environment i takes seed + i
        envs.reset()
        actions = np.array([space.sample() for space in envs.action_space])

        def step() -> None:
            _, _, terminated, truncated, _ = envs.step(actions)
            ended = np.flatnonzero(terminated | truncated)
            if len(ended):
                envs.reset(ended)

        step_all(task, probe, step)
    finally:
        envs.close()

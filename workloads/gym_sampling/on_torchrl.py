"""Sampling with TorchRL's ParallelEnv: a process per environment, values as tensors in shared memory."""

from contextlib import closing
from functools import partial
from typing import Any

from workloads.gym_sampling.on_gymnasium import SelfActing
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import SamplingTask
from workloads.vector_sampling import step_all

try:
    from torchrl.envs import GymWrapper, ParallelEnv
except ImportError:
    raise UnsupportedError.missing("torchrl", "vectors") from None


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    try:
        with closing(_make(task, 0)) as made:
            made.reset()
    except NotImplementedError:
        raise UnsupportedError(f"TorchRL has no tensor for what {task.env} returns") from None
    envs = ParallelEnv(task.actors, [partial(_make, task, index) for index in range(task.actors)])
    try:
        envs.set_seed(task.seed, static_seed=False)
        values = envs.rand_action(envs.reset())
        actions = values["action"].clone()

        def step() -> None:
            nonlocal values
            _, values = envs.step_and_maybe_reset(values)
            values["action"] = actions

        step_all(task, probe, step)
    finally:
        envs.close()


def _make(task: SamplingTask, index: int) -> Any:
    return GymWrapper(SelfActing(task, index), categorical_action_encoding=True)

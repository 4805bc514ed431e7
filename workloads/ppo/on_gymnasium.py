"""PPO on a vector of Gymnasium environments: a loop, a process per environment, or a share of them per core."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from workloads.gym_sampling.on_gymnasium import VECTORS
from workloads.ppo.player import Step
from workloads.ppo.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, *, vector: str) -> None:
    """Run all rounds of the task on a "sync", an "async" or a "reactor" vector, reporting to the probe.

    Observations are not copied for the learner, which does so itself: they are valid until the next step.
    """
    learner = task.make_learner()
    envs = VECTORS[vector]([task.make_environment] * task.actors, copy=False, autoreset_mode=AutoresetMode.SAME_STEP)
    try:
        observations, _ = envs.reset(seed=task.seed)  # environment i takes seed + i
        ended = np.zeros(task.actors, bool)
        learner.begin(_step(observations, ended, ended))
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                observations, rewards, terminated, truncated, _ = envs.step(learner.act())
                learner.see(_step(observations, rewards, terminated | truncated))
            if probe.verifying:
                task.record(probe.digest, learner)
            learner.learn()
            probe.round()
        probe.state(learner.final_state())
    finally:
        envs.close()


def _step(observations: npt.NDArray[Any], rewards: npt.NDArray[Any], ended: npt.NDArray[np.bool_]) -> Step:
    flat = observations.reshape(len(observations), -1)
    return flat.astype(np.float32), rewards.astype(np.float32), ended.astype(np.float32)

"""Sampling with vectors of Gymnasium environments: a loop, a process per environment, or a share of them per core.

The environments draw their own actions, as the workers of every other backend do. They begin the next episode in the
step that ends one. So they compute what the serial loop computes. A vector knows no message of several steps: it is
stepped `steps_per_message` times per round.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space, iterate

from reactorlib.cpus import gil_enabled
from reactorlib.gymnasium import ReactorVectorEnv
from workloads import environment
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import SamplingTask, StepResult, comparable

Environment = gymnasium.Env[Any, Any]

VECTORS: dict[str, Callable[..., Any]] = {
    "sync": SyncVectorEnv,
    "async": AsyncVectorEnv,
    # Without a GIL, threads: ReactorVectorEnv takes them only if it is asked to, as few environments expect them.
    "reactor": partial(ReactorVectorEnv, executor=None if gil_enabled() else "threads"),
}


class SelfActing(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Environment `index` of a task, which ignores the action it receives and draws its own."""

    def __init__(self, task: SamplingTask, index: int) -> None:
        super().__init__(task.make_environment())
        self._draw = environment.random_actions(self.env, task.seed + index)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:  # noqa: ARG002 - the caller's
        """Take a random step."""
        return self.env.step(self._draw())


def run(task: SamplingTask, probe: Probe, *, vector: str) -> None:
    """Run all rounds of the task on a "sync", an "async" or a "reactor" vector, reporting to the probe.

    Observations are not copied for the caller: they are valid until the next step, as long as a round needs them.
    """
    check_observations(task)
    makers = [partial(SelfActing, task, index) for index in range(task.actors)]
    envs = VECTORS[vector](makers, copy=False, autoreset_mode=AutoresetMode.SAME_STEP)
    try:
        envs.reset(seed=task.seed)  # environment i takes seed + i
        actions = envs.action_space.sample()
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps_per_message):
                step = envs.step(actions)
                if probe.verifying:
                    for index, result in enumerate(results(envs, step)):
                        probe.digest.add(index, *result)
            probe.round()
        probe.state(results(envs, step))
    finally:
        envs.close()


def check_observations(task: SamplingTask) -> None:
    """Raise UnsupportedError where a vector would convert observations to the type that their environment declares."""
    made = task.make_environment()
    observation, _ = made.reset(seed=task.seed)
    made.close()
    if observation not in made.observation_space:
        raise UnsupportedError(f"{task.env} returns observations that a vector of environments would convert")


def results(envs: VectorEnv[Any, Any, Any], step: tuple[Any, ...]) -> list[StepResult]:
    """The part of each environment in a vector's reply."""
    observations, rewards, terminated, truncated, infos = step
    results = []
    space = batch_space(envs.single_observation_space, len(rewards))  # of a pool, some of the environments
    for index, observation in enumerate(iterate(space, observations)):
        # Where an episode ended, the vector holds the first observation of the next one already.
        ended = terminated[index] or truncated[index]
        last = infos["final_obs"][index] if ended else observation
        results.append(comparable((last, rewards[index], terminated[index], truncated[index])))
    return results

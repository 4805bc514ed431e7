"""Sampling through a vector of environments that somebody else has written.

Their results cannot be compared with those of the other backends: neither digest nor state is reported. One round is
`steps_per_message` calls of the vector.
"""

from collections.abc import Callable
from typing import Any

from gymnasium.spaces import Space
from gymnasium.vector.utils import batch_space

from workloads.probe import Probe
from workloads.sampling import SamplingTask


def sample(task: SamplingTask, probe: Probe, envs: Any, action_space: Space[Any]) -> None:
    """Run all rounds on a vector that has been reset; `action_space` is that of one environment.

    Actions are drawn for all environments at once, as the users of a vector in another language do.
    """
    actions = batch_space(action_space, task.actors)
    actions.seed(task.seed)
    step_all(task, probe, lambda: envs.step(actions.sample()))


def step_all(task: SamplingTask, probe: Probe, step: Callable[[], object]) -> None:
    """Run all rounds on a vector that has been reset, which `step` steps once."""
    probe.ready()
    for _ in range(task.total_rounds):
        for _ in range(task.steps_per_message):
            step()
        probe.round()
    probe.state()

"""Sampling through a vector of environments that somebody else has written in another language.

Their random numbers are their own, so nothing they compute can be compared with what the other backends do: neither
digest nor state is reported. Actions are drawn for all environments at once, as such a vector's users do. One round is
`steps_per_message` calls of the vector.
"""

from typing import Any

from gymnasium.spaces import Space
from gymnasium.vector.utils import batch_space

from workloads.probe import Probe
from workloads.sampling import SamplingTask


def sample(task: SamplingTask, probe: Probe, envs: Any, action_space: Space[Any]) -> None:
    """Run all rounds on a vector that has been reset; `action_space` is that of one environment."""
    actions = batch_space(action_space, task.actors)
    actions.seed(task.seed)
    probe.ready()
    for _ in range(task.total_rounds):
        for _ in range(task.steps_per_message):
            envs.step(actions.sample())
        probe.round()
    probe.state()

"""Gym sampling: any registered Gymnasium environment."""

from dataclasses import dataclass

from workloads.sampling import SamplingTask


@dataclass(frozen=True)
class Task(SamplingTask):
    """The parameters of gym_sampling; the defaults are the paper's."""

"""Gym sampling: any registered Gymnasium environment."""

from dataclasses import dataclass
from typing import ClassVar

from workloads.sampling import SamplingTask


@dataclass(frozen=True)
class Task(SamplingTask):
    """The parameters of gym_sampling; the defaults are the paper's."""

    name: ClassVar[str] = "gym_sampling"

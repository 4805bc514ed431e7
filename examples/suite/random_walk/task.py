"""The task: its parameters, and the walker that every backend runs alike."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from workloads.digest import Digest, NoDigest
from workloads.parameter import parameter, validate


@dataclass(frozen=True)
class Task:
    """The parameters of random_walk."""

    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "draws/s"

    walkers: int = parameter(8, "walkers, each with random numbers of its own", minimum=1)
    draws: int = parameter(1_000, "numbers that a walker draws per message", minimum=1)
    seed: int = parameter(0, "seed: walker i takes seed + i", minimum=0)
    rounds: int = parameter(100, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(5, "rounds before the measured ones", minimum=0)

    def __post_init__(self) -> None:
        validate(self)

    @property
    def scenario(self) -> str:
        """The variant."""
        return f"{self.draws} draws"

    @property
    def total_rounds(self) -> int:
        """Rounds to run: warm-up and measured."""
        return self.warmup_rounds + self.rounds

    @property
    def units_per_round(self) -> int:
        """Draws in a round."""
        return self.walkers * self.draws

    @property
    def members(self) -> int:
        """Workers that can be placed apart."""
        return self.walkers

    @staticmethod
    def record(digest: Digest | NoDigest, places: Sequence[int]) -> None:
        """Add the places of all walkers to the digest."""
        digest.add(0, *places)


class Walker:
    """Walker `index` of a task."""

    def __init__(self, task: Task, index: int) -> None:
        self._random = random.Random(task.seed + index)
        self._draws = task.draws

    def walk(self, start: int) -> int:
        """The place after the draws of a round that begins at `start`."""
        return start + sum(self._random.randrange(-1, 2) for _ in range(self._draws))

"""The parameters of the fake workload."""

import time
from dataclasses import dataclass
from typing import ClassVar

from workloads.parameter import parameter, validate

BEHAVIOURS = ("good", "raises", "exits", "killed", "wrong", "orphans", "refuses", "breaks_once")


@dataclass(frozen=True)
class Task:
    """The things to count, and the behaviour of the reactor backend."""

    name: ClassVar[str] = "fake"
    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "things/s"

    actors: int = parameter(2, "things per round", minimum=1)
    behaviour: str = parameter("good", "of on_reactors", choices=BEHAVIOURS)
    file: str = parameter("", "a file that on_reactors maps when it leaves orphans, or makes when it breaks once")
    pause: float = parameter(0.0, "seconds slept per round", minimum=0)
    seed: int = parameter(0, "where counting starts", minimum=0)
    rounds: int = parameter(3, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(1, "rounds before them", minimum=0)

    def __post_init__(self):
        validate(self)

    @property
    def scenario(self):
        return self.behaviour

    @property
    def units_per_round(self):
        return self.actors

    @property
    def members(self):
        return self.actors

    def count(self, probe, offset=0):
        """Run all rounds."""
        total = self.seed
        probe.ready()
        for _ in range(self.warmup_rounds + self.rounds):
            total += self.actors
            probe.digest.add(0, total + offset)
            time.sleep(self.pause)
            probe.round()
        return total

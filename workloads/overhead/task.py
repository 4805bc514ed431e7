"""Overhead: the shapes of communication, and the trivial work that every backend does in them.

Shapes after the Savina actor benchmarks (Imam and Sarkar, AGERE 2014). A round is a block of messages, so
that the clock is read rarely.
"""

import heapq
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from workloads.parameter import ParameterError, parameter
from workloads.tasks import CommonTask

# One timer event per slot of logical time.
SLOT_NS = 1_000
# Reactions in a round, unless told otherwise.
USUAL_REACTIONS = 1_000
# A round of fan_out starts from the sum of all last replies, kept small.
SUM_MODULUS = 2**31


@dataclass(frozen=True)
class Shape:
    """How many take part in a shape, and how many reactions (method calls) a message of it causes.

    `fixed`: there can't be another number of actors. `alone`: how many of them stay with the hub. Only the
    others can be placed apart.
    """

    usual_actors: int
    reactions: Callable[[int], int]
    fixed: bool = False
    alone: int = 0


# Beside each shape, what a message is in it.
SHAPES = {
    "ping_pong": Shape(2, lambda _: 2, fixed=True, alone=2),  # an exchange between two
    "thread_ring": Shape(
        100, lambda actors: actors, alone=1
    ),  # a token's way round a ring, each hop an event of its own
    "counting": Shape(2, lambda _: 2, fixed=True, alone=2),  # an increment that a producer sends to a counter
    "fan_out": Shape(16, lambda actors: actors + 1),  # a broadcast and the gathering of all replies
    "chain": Shape(100, lambda actors: actors, alone=1),  # a value's way along a chain, without an event between
    "timers": Shape(1_000, lambda actors: actors),  # a period, in which every timer fires once
}


@dataclass(frozen=True)
class Task(CommonTask):
    """The parameters of overhead."""

    metric: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "reactions/s"

    shape: str = parameter("fan_out", "who talks to whom", choices=SHAPES)
    actors: int = parameter(0, "members of the ring or chain, clients or timers; 0: as usual for the shape", minimum=0)
    messages_per_round: int = parameter(0, "messages in a round; 0: some 1,000 reactions", minimum=0)
    seed: int = parameter(0, "the first value (of counting: 1), and the order of the timers", minimum=0)
    rounds: int = parameter(50, "measured rounds", minimum=1)
    warmup_rounds: int = parameter(3, "rounds before the measured ones", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = SHAPES[self.shape]
        if shape.fixed and self.actors not in (0, shape.usual_actors):
            raise ParameterError(f"actors: {self.shape} takes exactly {shape.usual_actors}, got {self.actors}")
        if self.actors == 0:
            object.__setattr__(self, "actors", shape.usual_actors)
        if self.messages_per_round == 0:
            messages = max(1, USUAL_REACTIONS // shape.reactions(self.actors))
            object.__setattr__(self, "messages_per_round", messages)

    @property
    def scenario(self) -> str:
        """The shape, with its size where that varies."""
        return self.shape if SHAPES[self.shape].fixed else f"{self.shape}-{self.actors}"

    @property
    def units_per_round(self) -> int:
        """Reactions (method calls) that a round causes."""
        return self.messages_per_round * SHAPES[self.shape].reactions(self.actors)

    @property
    def members(self) -> int:
        """Actors that can be placed apart."""
        return max(1, self.actors - SHAPES[self.shape].alone)

    @property
    def timer_period_ns(self) -> int:
        """The period of every timer: each slot of logical time then belongs to one."""
        return self.actors * SLOT_NS

    @property
    def timer_round_ns(self) -> int:
        """The logical time of a round of timers."""
        return self.messages_per_round * self.timer_period_ns

    def timer_offsets_ns(self) -> list[int]:
        """When each timer fires first: the slots from 1, in a seeded random order."""
        slots = list(range(1, self.actors + 1))
        random.Random(self.seed).shuffle(slots)
        return [slot * SLOT_NS for slot in slots]

    def first_firings(self, timers: Iterable[int]) -> list[tuple[int, int]]:
        """When each of these timers fires first, in ns, and its index: a heap, for who keeps the timers himself."""
        offsets_ns = self.timer_offsets_ns()
        queue = [(offsets_ns[index], index) for index in timers]
        heapq.heapify(queue)
        return queue


class Member:
    """Adds its own step to the value it receives."""

    def __init__(self, index: int) -> None:
        self.step = index + 1

    def take(self, value: int) -> int:
        """The value for the next one."""
        return value + self.step


class Counter:
    """Sums what it is given."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, increment: int) -> None:
        """Count an increment."""
        self.total += increment

    def retrieve(self) -> int:
        """The sum so far."""
        return self.total


class TimerCounts:
    """Counts the firings of each timer."""

    def __init__(self, timers: int) -> None:
        self.counts = [0] * timers

    def fire(self, index: int) -> None:
        """Count a firing."""
        self.counts[index] += 1

    def retrieve(self) -> list[int]:
        """The counts so far."""
        return self.counts


class TimerHeap:
    """Some of a task's timers: a heap of the next firing of each, in ns, and the counts of their firings."""

    def __init__(self, task: Task, timers: Iterable[int]) -> None:
        self._counts = dict.fromkeys(timers, 0)
        self._queue = task.first_firings(self._counts)
        self._period_ns = task.timer_period_ns
        self._firings = task.messages_per_round * len(self._queue)

    def play_round(self) -> int:
        """Let a round's time pass; the number of firings."""
        queue, counts, period_ns = self._queue, self._counts, self._period_ns
        for _ in range(self._firings):
            time_ns, index = queue[0]
            counts[index] += 1
            heapq.heapreplace(queue, (time_ns + period_ns, index))
        return self._firings

    def retrieve(self) -> list[int]:
        """The counts so far, in the order of the timers."""
        return [*self._counts.values()]

"""A ring of reactors, in which every hop is an event."""

from typing import Any

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, startup
from workloads.overhead.reactors import Member
from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.probe import Probe


class Starter(Reactor):
    """The first member of a ring: starts the token and counts its laps."""

    taken = Input[int]()
    passed = Output[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.rounds = Rounds(task, probe)
        self.step = 1
        self.round_sum = task.messages_per_round * sum(range(1, task.actors + 1))
        self.mark = task.seed + self.round_sum

    @reaction(startup, effects=passed)
    def begin(self, passed: Output[int]) -> None:
        """Start the token."""
        self.rounds.probe.ready()
        passed.set(self.task.seed + self.step)

    @reaction(taken, effects=passed)
    def take(self, taken: Input[int], passed: Output[int]) -> None:
        """Pass the token on until the last round is over."""
        value = taken.value
        if value == self.mark:
            self.mark += self.round_sum
            if not self.rounds.more(value):
                return
        passed.set(value + self.step)


class ThreadRing(Reactor):
    """Members that pass a token on, `after` a delay or within a tag; the way back to the first is always an event."""

    def __init__(self, task: Task, probe: Probe, after: int | None = 0) -> None:
        self.starter = Starter(task, probe)
        last: Any = self.starter
        if task.actors > 1:
            self.members = Bank(Member, task.actors - 1, 1)
            for member in self.members:
                connect(last.passed, member.taken, after=after)
                last = member
        connect(last.passed, self.starter.taken, after=0)

"""Ping-pong as two reactors."""

from reactorlib import Input, Output, Reactor, connect, reaction, startup
from workloads.overhead.reactors import Member
from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.probe import Probe


class Ping(Reactor):
    """Serves, and returns what it is returned."""

    taken = Input[int]()
    passed = Output[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.rounds = Rounds(task, probe)
        self.mark = task.seed + task.messages_per_round

    @reaction(startup, effects=passed)
    def begin(self, passed: Output[int]) -> None:
        """Serve."""
        self.rounds.probe.ready()
        passed.set(self.task.seed)

    @reaction(taken, effects=passed)
    def take(self, taken: Input[int], passed: Output[int]) -> None:
        """Return the ball until the last round is over."""
        value = taken.value
        if value == self.mark:
            self.mark += self.task.messages_per_round
            if not self.rounds.more(value):
                return
        passed.set(value)


class PingPong(Reactor):
    """Two players."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.ping = Ping(task, probe)
        self.pong = Member()
        connect(self.ping.passed, self.pong.taken)
        connect(self.pong.passed, self.ping.taken, after=0)

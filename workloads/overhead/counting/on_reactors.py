"""Counting as two reactors: a producer and a counter."""

from reactorlib import Input, LogicalAction, Output, Reactor, connect, reaction, startup
from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.probe import Probe


class Producer(Reactor):
    """Sends increments, then asks for their sum."""

    again = LogicalAction[None]()
    total = Input[int]()
    increment = Output[int]()
    retrieve = Output[bool]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.rounds = Rounds(task, probe)
        self.messages = task.messages_per_round
        self.sent = 0

    @reaction(startup, effects=again)
    def begin(self, again: LogicalAction[None]) -> None:
        """Begin."""
        self.rounds.probe.ready()
        again.schedule()

    @reaction(again, effects=[increment, retrieve, again])
    def send(self, again: LogicalAction[None], increment: Output[int], retrieve: Output[bool]) -> None:
        """Send the next increment, or ask for the sum."""
        if self.sent < self.messages:
            self.sent += 1
            increment.set(self.sent)
            again.schedule()
        else:
            self.sent = 0
            retrieve.set(True)

    @reaction(total, effects=again)
    def receive(self, total: Input[int], again: LogicalAction[None]) -> None:
        """Begin the next round."""
        if self.rounds.more(total.value):
            again.schedule()


class Counter(Reactor):
    """Sums what it is given."""

    increment = Input[int]()
    retrieve = Input[bool]()
    total = Output[int]()

    def __init__(self) -> None:
        self.sum = 0

    @reaction(increment)
    def add(self, increment: Input[int]) -> None:
        """Count an increment."""
        self.sum += increment.value

    @reaction(retrieve, effects=total)
    def report(self, _retrieve: Input[bool], total: Output[int]) -> None:
        """Tell the sum so far."""
        total.set(self.sum)


class Counting(Reactor):
    """A producer and a counter."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.producer = Producer(task, probe)
        self.counter = Counter()
        connect(self.producer.increment, self.counter.increment)
        connect(self.producer.retrieve, self.counter.retrieve)
        connect(self.counter.total, self.producer.total)

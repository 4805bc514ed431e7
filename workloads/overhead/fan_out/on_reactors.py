"""Fan-out as a hub and a bank of clients."""

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, startup
from workloads.overhead.reactors import Member
from workloads.overhead.rounds import Rounds
from workloads.overhead.task import SUM_MODULUS, Task
from workloads.probe import Probe


class Hub(Reactor):
    """Broadcasts a value and gathers the replies."""

    replies = Input[int](width=lambda task: task.actors)
    value = Output[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.rounds = Rounds(task, probe)
        self.left = task.messages_per_round

    @reaction(startup, effects=value)
    def begin(self, value: Output[int]) -> None:
        """Send the first value."""
        self.rounds.probe.ready()
        value.set(self.task.seed)

    @reaction(replies, effects=value)
    def gather(self, replies: Input[int], value: Output[int]) -> None:
        """Send the last client's reply to all; at a round's end, the sum of the replies."""
        self.left -= 1
        if self.left:
            value.set(replies[-1].value)
            return
        self.left = self.task.messages_per_round
        total = sum(reply.value for reply in replies) % SUM_MODULUS
        if self.rounds.more(total):
            value.set(total)


class FanOut(Reactor):
    """A hub and its clients."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.clients = Bank(Member, task.actors)
        connect(self.hub.value, self.clients.taken, after=0)
        connect(self.clients.passed, self.hub.replies)

"""Broadcast and gather with one reactor per worker."""

from reactorlib import Bank, ExecutorName, Input, Output, Reactor, connect, reaction, startup
from reactorlib import run as run_reactors
from workloads.broadcast_gather.task import Task, Value
from workloads.probe import Probe


class Client(Reactor):
    """One worker."""

    value = Input[Value]()
    ready = Output[bool]()
    reply = Output[Value]()

    def __init__(self, task: Task) -> None:
        self.task = task

    @reaction(startup, effects=ready)
    def begin(self, ready: Output[bool]) -> None:
        """Tell that the worker runs."""
        ready.set(True)

    @reaction(value, effects=reply)
    def work(self, value: Input[Value], reply: Output[Value]) -> None:
        """Answer a broadcast."""
        reply.set(self.task.work(value.value, reply.allocate))


class Hub(Reactor):
    """Broadcasts the array, gathers the copies and makes the next array of the first."""

    ready = Input[bool](width=lambda task: task.actors)
    replies = Input[Value](width=lambda task: task.actors)
    value = Output[Value]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.round_index = 0

    @reaction(ready, effects=value)
    def begin(self, _ready: Input[bool], value: Output[Value]) -> None:
        """Every worker runs: send the first array."""
        first_value = self.task.first_value()
        self.probe.ready()
        value.set(first_value)

    @reaction(replies, effects=value)
    def gather(self, replies: Input[Value], value: Output[Value]) -> None:
        """Take a round's replies and send the next array."""
        if self.probe.verifying:
            self.task.record(self.probe.digest, [reply.value for reply in replies])
        next_value = self.task.next_value(replies[0].value, self.round_index, value.allocate)
        self.probe.round()
        self.round_index += 1
        if self.round_index < self.task.total_rounds:
            value.set(next_value)
        else:
            self.probe.state(next_value)


class BroadcastGather(Reactor):
    """A hub and its workers."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.clients = Bank(Client, task.actors, task)
        connect(self.clients.ready, self.hub.ready)
        connect(self.hub.value, self.clients.value, after=0)
        connect(self.clients.reply, self.hub.replies)


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    run_reactors(BroadcastGather, executor=executor, workers=workers, task=task, probe=probe)

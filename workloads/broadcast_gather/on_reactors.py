"""Broadcast and gather with one reactor per worker.

A worker that waits is no process that sleeps. Once every worker has received the array, one event is scheduled
that is due after the wait, for all of them. So the workers copy side by side on one process per core.
"""

from reactorlib import (
    Bank,
    ExecutorName,
    Input,
    LogicalAction,
    Output,
    Reactor,
    connect,
    logical_time,
    physical_time,
    reaction,
    startup,
)
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
        reply.set(self.task.copy(value.value, reply.allocate))


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


class WaitingClient(Client):
    """One worker whose work takes time: it keeps the array meanwhile."""

    received = Output[bool]()
    waited = Input[bool]()

    @reaction(Client.value, effects=received)
    def work(self, value: Input[Value], received: Output[bool]) -> None:
        """Begin to wait."""
        self.held = value.value
        received.set(True)

    @reaction(waited, effects=Client.reply)
    def answer(self, _waited: Input[bool], reply: Output[Value]) -> None:
        """Answer the broadcast."""
        reply.set(self.task.copy(self.held, reply.allocate))


class Pause(Reactor):
    """The wait of all workers, which begins when the last of them has received the array."""

    received = Input[bool](width=lambda task: task.actors)
    over = LogicalAction[None]()
    waited = Output[bool]()

    def __init__(self, task: Task) -> None:
        self.task = task

    @reaction(received, effects=over)
    def begin(self, _received: Input[bool], over: LogicalAction[None]) -> None:
        """Schedule the end. Logical time lags behind by what this round has taken so far, which is no wait."""
        over.schedule(self.task.work_ns + physical_time() - logical_time())

    @reaction(over, effects=waited)
    def end(self, _over: LogicalAction[None], waited: Output[bool]) -> None:
        """Let the workers go on."""
        waited.set(True)


class BroadcastGather(Reactor):
    """A hub and its workers."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.clients = Bank(WaitingClient if task.work_ns else Client, task.actors, task)
        connect(self.clients.ready, self.hub.ready)
        connect(self.hub.value, self.clients.value, after=0)
        if task.work_ns:
            self.pause = Pause(task)
            connect(self.clients.received, self.pause.received)
            connect(self.pause.waited, self.clients.waited)
        connect(self.clients.reply, self.hub.replies)


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    run_reactors(BroadcastGather, executor=executor, workers=workers, task=task, probe=probe)

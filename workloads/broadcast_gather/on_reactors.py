"""Broadcast and gather with one reactor per worker.

A worker that waits is no process that sleeps. Once every worker has received the array, one event is scheduled
that is due after the wait, for all of them. So the workers copy side by side on one process per core.

The next array is made in parts, on all cores if it is large. Ray's store likewise copies by several threads.
"""

from collections.abc import Sequence

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

# A smaller array is made as a whole: it takes less than half a millisecond, and the other worker waits once less.
LARGE_BYTES = 4 * 2**20


class Client(Reactor):
    """One worker."""

    value = Input[Value]()
    ready = Output[bool]()
    reply = Output[Value]()

    def __init__(self, task: Task, parts: int) -> None:  # noqa: ARG002  # a width is made of it
        self.task = task

    @reaction(startup, effects=ready)
    def begin(self, ready: Output[bool]) -> None:
        """Tell that the worker runs."""
        ready.set(True)

    @reaction(value, effects=reply)
    def work(self, value: Input[Value], reply: Output[Value]) -> None:
        """Answer a broadcast."""
        reply.set(self.task.copy([value.value], reply.allocate))


class ClientOfParts(Client):
    """One worker that receives the array in parts."""

    value = Input[Value](width=lambda parts: parts)

    @reaction(value, effects=Client.reply)
    def work(self, value: Input[Value], reply: Output[Value]) -> None:
        """Answer a broadcast."""
        reply.set(self.task.copy([part.value for part in value], reply.allocate))


class WaitingClient(ClientOfParts):
    """One worker whose work takes time: it keeps the array meanwhile."""

    received = Output[bool]()
    waited = Input[bool]()
    held: Sequence[Value]

    @reaction(ClientOfParts.value, effects=received)
    def work(self, value: Input[Value], received: Output[bool]) -> None:
        """Begin to wait."""
        self.held = [part.value for part in value]
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


class Hub(Reactor):
    """Makes the first array, and gathers the copies."""

    ready = Input[bool](width=lambda task: task.actors)
    replies = Input[Value](width=lambda task: task.actors)
    first = Output[Value]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.round_index = 0

    @reaction(ready, effects=first)
    def begin(self, _ready: Input[bool], first: Output[Value]) -> None:
        """Every worker runs: send the first array."""
        first_value = self.task.first_value()
        self.probe.ready()
        first.set(first_value)

    @reaction(replies)
    def gather(self, replies: Input[Value]) -> None:
        """Take a round's replies."""
        if self.probe.verifying:
            self.task.record(self.probe.digest, [reply.value for reply in replies])
        self.probe.round()
        self.round_index += 1
        if self.round_index == self.task.total_rounds:
            self.probe.state(self.task.next_value(replies[0].value, self.round_index - 1))


class Part(Reactor):
    """Makes a part of each array, of the first reply to the one before: the hub's copy."""

    first = Input[Value]()
    reply = Input[Value]()
    value = Output[Value]()

    def __init__(self, task: Task, parts: int) -> None:
        self.task = task
        self.own = task.cut(parts)[self.bank_index]
        self.round_index = 0

    @reaction(first, effects=value)
    def begin(self, first: Input[Value], value: Output[Value]) -> None:
        """Send the first array."""
        value.set(first.value[self.own])

    @reaction(reply, effects=value)
    def make(self, reply: Input[Value], value: Output[Value]) -> None:
        """Make and send the next one."""
        part = self.task.part(reply.value, self.own, self.round_index, value.allocate)
        self.round_index += 1
        if self.round_index < self.task.total_rounds:
            value.set(part)


class BroadcastGather(Reactor):
    """A hub, the parts of its array, and its workers."""

    def __init__(self, task: Task, probe: Probe, parts: int = 1) -> None:
        self.hub = Hub(task, probe)
        self.parts = Bank(Part, parts, task, parts)
        of_parts = ClientOfParts if parts > 1 else Client  # a round of 1 kB is shorter without a multiport
        self.clients = Bank(WaitingClient if task.work_ns else of_parts, task.actors, task, parts)
        connect(self.clients.ready, self.hub.ready)
        connect(self.hub.first, self.parts.first)
        connect(self.parts.value, self.clients.value)
        if task.work_ns:
            self.pause = Pause(task)
            connect(self.clients.received, self.pause.received)
            connect(self.pause.waited, self.clients.waited)
        connect(self.clients[0].reply, self.parts.reply, after=0)  # the next round
        connect(self.clients.reply, self.hub.replies)


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    parts = workers or 1 if task.object_bytes >= LARGE_BYTES else 1
    run_reactors(BroadcastGather, executor=executor, workers=workers, task=task, probe=probe, parts=parts)

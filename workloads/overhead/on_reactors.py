"""The shapes as reactors."""

from typing import Any

from reactorlib import (
    NSEC,
    Bank,
    ExecutorName,
    Input,
    LogicalAction,
    Output,
    Reactor,
    Timer,
    connect,
    reaction,
    request_stop,
    shutdown,
    startup,
)
from reactorlib import run as run_reactors
from workloads.overhead.rounds import Rounds
from workloads.overhead.task import SUM_MODULUS, Task
from workloads.probe import Probe


class Member(Reactor):
    """Adds its own step to the value it receives."""

    taken = Input[int]()
    passed = Output[int]()

    def __init__(self, first_index: int = 0) -> None:
        self.step = first_index + self.bank_index + 1

    @reaction(taken, effects=passed)
    def take(self, taken: Input[int], passed: Output[int]) -> None:
        """Pass the value on."""
        passed.set(taken.value + self.step)


class Ping(Reactor):
    """Serves, and returns what it is returned. `steps`: by how much an exchange changes the value."""

    taken = Input[int]()
    passed = Output[int]()
    step = 0

    def __init__(self, task: Task, probe: Probe, steps: int = 1) -> None:
        self.task = task
        self.rounds = Rounds(task, probe)
        self.round_sum = task.messages_per_round * steps
        self.mark = task.seed + self.round_sum

    @reaction(startup, effects=passed)
    def begin(self, passed: Output[int]) -> None:
        """Serve."""
        self.rounds.probe.ready()
        passed.set(self.task.seed + self.step)

    @reaction(taken, effects=passed)
    def take(self, taken: Input[int], passed: Output[int]) -> None:
        """Return the ball until the last round is over."""
        value = taken.value
        if value == self.mark:
            self.mark += self.round_sum
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


class Starter(Ping):
    """The first member of a ring: starts the token and counts its laps."""

    step = 1

    @reaction(Ping.taken, effects=Ping.passed)
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
        self.starter = Starter(task, probe, sum(range(1, task.actors + 1)))
        last: Any = self.starter
        if task.actors > 1:
            self.members = Bank(Member, task.actors - 1, 1)
            for member in self.members:
                connect(last.passed, member.taken, after=after)
                last = member
        connect(last.passed, self.starter.taken, after=0)


class Chain(ThreadRing):
    """Members that hand a value on within a tag: only the way back to the first is an event."""

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__(task, probe, after=None)


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


class Ticker(Reactor):
    """One timer, and the count of its firings."""

    tick = Timer(
        offset=lambda offsets_ns, bank_index: offsets_ns[bank_index] * NSEC,
        period=lambda period_ns: period_ns * NSEC,
    )
    count = Output[int]()

    def __init__(self, offsets_ns: list[int], period_ns: int) -> None:  # noqa: ARG002 - the timer's
        self.fired = 0

    @reaction(tick)
    def fire(self, _tick: Timer) -> None:
        """Count a firing."""
        self.fired += 1

    @reaction(shutdown, effects=count)
    def end(self, count: Output[int]) -> None:
        """Tell the count."""
        count.set(self.fired)


class Clock(Reactor):
    """Ends a round whenever its logical time has passed, and collects the counts at the end."""

    tick = Timer(offset=lambda task: task.timer_round_ns * NSEC, period=lambda task: task.timer_round_ns * NSEC)
    counts = Input[int](width=lambda task: task.actors)

    def __init__(self, task: Task, probe: Probe) -> None:
        self.rounds = Rounds(task, probe)
        self.firings = task.units_per_round
        self.value = task.seed

    @reaction(startup)
    def begin(self) -> None:
        """Begin."""
        self.rounds.probe.ready()

    @reaction(tick)
    def end_round(self, _tick: Timer) -> None:
        """Report a round."""
        self.value += self.firings
        if not self.rounds.more(self.value):
            request_stop()

    @reaction(counts)
    def collect(self, counts: Input[int]) -> None:
        """Report how often each timer fired."""
        self.rounds.probe.state([count.value for count in counts])


class Timers(Reactor):
    """Independent timers and the clock that counts rounds."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.clock = Clock(task, probe)
        self.tickers = Bank(Ticker, task.actors, task.timer_offsets_ns(), task.timer_period_ns)
        connect(self.tickers.count, self.clock.counts)


SHAPES: dict[str, type[Reactor]] = {
    "ping_pong": PingPong,
    "thread_ring": ThreadRing,
    "counting": Counting,
    "fan_out": FanOut,
    "chain": Chain,
    "timers": Timers,
}


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe; logical time, which the timers use, runs freely."""
    run_reactors(SHAPES[task.shape], fast=True, executor=executor, workers=workers, task=task, probe=probe)

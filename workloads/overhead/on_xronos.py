"""The shapes as reactors of xronos, a runtime in C++ with reactions in Python.

Its ports have no width and its reactors no banks: a hub has as many ports as clients, made when it is defined.
"""

import datetime as dt
from collections.abc import Callable
from typing import Any

from workloads.overhead.task import SUM_MODULUS, Task
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

try:
    import xronos
except ImportError:
    raise UnsupportedError.missing("xronos") from None

Handler = Callable[[], None]

NEXT_MICROSTEP = dt.timedelta(0)


class Rounds:
    """Reports the rounds to the probe; belongs to the reactor that sees their ends."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.probe = probe
        self.left = task.total_rounds

    def more(self, value: int) -> bool:
        """Report a round that ended with this value; after the last one, answer False."""
        self.probe.digest.add(0, value)
        self.probe.round()
        self.left -= 1
        return self.left > 0


class Member(xronos.Reactor):
    """Adds its own step to what it is given."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, index: int) -> None:
        super().__init__()
        self.step = index + 1

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Pass the value on."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)
        return lambda: passed.set(taken.get() + self.step)


class Starter(xronos.Reactor):
    """Sends a value round, adding its own step, and counts how often it comes back: `lap` more each time."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe, step: int, lap: int) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.step = step
        self.round_sum = task.messages_per_round * lap
        self.mark = task.seed + self.round_sum

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Start the value."""
        context.add_trigger(self.startup)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            self.rounds.probe.ready()
            passed.set(self.task.seed + self.step)

        return handler

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Pass the value on until the last round is over."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            value = taken.get()
            if value == self.mark:
                self.mark += self.round_sum
                if not self.rounds.more(value):
                    self.rounds.probe.state(value, None)
                    end.trigger_shutdown()
                    return
            passed.set(value + self.step)

        return handler


class Ping(Starter):
    """Serves, and returns what it is returned."""

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__(task, probe, step=0, lap=1)

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Return the ball until the last round is over."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            value = taken.get()
            if value == self.mark:
                self.mark += self.round_sum
                if not self.rounds.more(value):
                    self.rounds.probe.state(value, None)
                    end.trigger_shutdown()
                    return
            passed.set(value)

        return handler


def ping_pong(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Two players."""
    ping = environment.create_reactor("ping", Ping, task, probe)
    pong = environment.create_reactor("pong", Member, 0)
    environment.connect(ping.passed, pong.taken)
    environment.connect(pong.passed, ping.taken, NEXT_MICROSTEP)


def ring(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Members that pass a token on; in thread_ring every hop is an event, in chain only the way back is."""
    hop = NEXT_MICROSTEP if task.shape == "thread_ring" else None
    starter = environment.create_reactor("starter", Starter, task, probe, 1, sum(range(1, task.actors + 1)))
    last = starter.passed
    for index in range(1, task.actors):
        member = environment.create_reactor(f"member_{index}", Member, index)
        environment.connect(last, member.taken, hop)
        last = member.passed
    environment.connect(last, starter.taken, NEXT_MICROSTEP)


class Producer(xronos.Reactor):
    """Sends increments, then asks for their sum."""

    again = xronos.ProgrammableTimerDeclaration[None]()
    total = xronos.InputPortDeclaration[int]()
    increment = xronos.OutputPortDeclaration[int]()
    retrieve = xronos.OutputPortDeclaration[bool]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.rounds = Rounds(task, probe)
        self.messages = task.messages_per_round
        self.sent = 0

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Begin."""
        context.add_trigger(self.startup)
        again = context.add_effect(self.again)

        def handler() -> None:
            self.rounds.probe.ready()
            again.schedule(None)

        return handler

    @xronos.reaction
    def send(self, context: xronos.ReactionContext) -> Handler:
        """Send the next increment, or ask for the sum."""
        context.add_trigger(self.again)
        increment = context.add_effect(self.increment)
        retrieve = context.add_effect(self.retrieve)
        again = context.add_effect(self.again)

        def handler() -> None:
            if self.sent < self.messages:
                self.sent += 1
                increment.set(self.sent)
                again.schedule(None)
            else:
                self.sent = 0
                retrieve.set(True)

        return handler

    @xronos.reaction
    def receive(self, context: xronos.ReactionContext) -> Handler:
        """Begin the next round."""
        total = context.add_trigger(self.total)
        again = context.add_effect(self.again)
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            if self.rounds.more(total.get()):
                again.schedule(None)
            else:
                self.rounds.probe.state(total.get(), None)
                end.trigger_shutdown()

        return handler


class Counter(xronos.Reactor):
    """Sums what it is given."""

    increment = xronos.InputPortDeclaration[int]()
    retrieve = xronos.InputPortDeclaration[bool]()
    total = xronos.OutputPortDeclaration[int]()

    def __init__(self) -> None:
        super().__init__()
        self.sum = 0

    @xronos.reaction
    def add(self, context: xronos.ReactionContext) -> Handler:
        """Count an increment."""
        increment = context.add_trigger(self.increment)

        def handler() -> None:
            self.sum += increment.get()

        return handler

    @xronos.reaction
    def report(self, context: xronos.ReactionContext) -> Handler:
        """Tell the sum so far."""
        context.add_trigger(self.retrieve)
        total = context.add_effect(self.total)
        return lambda: total.set(self.sum)


def counting(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """A producer and a counter."""
    producer = environment.create_reactor("producer", Producer, task, probe)
    counter = environment.create_reactor("counter", Counter)
    environment.connect(producer.increment, counter.increment)
    environment.connect(producer.retrieve, counter.retrieve)
    environment.connect(counter.total, producer.total)


class Hub(xronos.Reactor):
    """Broadcasts a value and gathers the replies; a subclass has the ports for them."""

    value = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.left = task.messages_per_round
        self.replies = [getattr(self, name) for name in _replies(task)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Send the first value."""
        context.add_trigger(self.startup)
        value = context.add_effect(self.value)

        def handler() -> None:
            self.rounds.probe.ready()
            value.set(self.task.seed)

        return handler

    @xronos.reaction
    def gather(self, context: xronos.ReactionContext) -> Handler:
        """Send the last client's reply to all; at a round's end, the sum of the replies."""
        replies = [context.add_trigger(port) for port in self.replies]
        value = context.add_effect(self.value)
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            self.left -= 1
            if self.left:
                value.set(replies[-1].get())
                return
            self.left = self.task.messages_per_round
            total = sum(reply.get() for reply in replies) % SUM_MODULUS
            if self.rounds.more(total):
                value.set(total)
            else:
                self.rounds.probe.state(total, None)
                end.trigger_shutdown()

        return handler


def fan_out(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """A hub and its clients."""
    ports = {name: xronos.InputPortDeclaration[int]() for name in _replies(task)}
    hub = environment.create_reactor("hub", type("HubOfAll", (Hub,), ports), task, probe)
    for index, reply in enumerate(hub.replies):
        client = environment.create_reactor(f"client_{index}", Member, index)
        environment.connect(hub.value, client.taken, NEXT_MICROSTEP)
        environment.connect(client.passed, reply)


def _replies(task: Task) -> list[str]:
    return [f"reply_{index}" for index in range(task.actors)]


class Ticker(xronos.Reactor):
    """One timer, and the count of its firings."""

    tick = xronos.PeriodicTimerDeclaration()

    def __init__(self, offset_ns: int, period_ns: int) -> None:
        super().__init__()
        self.tick.offset = _duration(offset_ns)
        self.tick.period = _duration(period_ns)
        self.fired = 0

    @xronos.reaction
    def fire(self, context: xronos.ReactionContext) -> Handler:
        """Count a firing."""
        context.add_trigger(self.tick)

        def handler() -> None:
            self.fired += 1

        return handler


class Clock(xronos.Reactor):
    """Ends a round whenever its logical time has passed."""

    tick = xronos.PeriodicTimerDeclaration()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.tick.offset = self.tick.period = _duration(task.timer_round_ns)
        self.rounds = Rounds(task, probe)
        self.firings = task.units_per_round
        self.value = task.seed

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Begin."""
        context.add_trigger(self.startup)
        return self.rounds.probe.ready

    @xronos.reaction
    def end_round(self, context: xronos.ReactionContext) -> Handler:
        """Report a round."""
        context.add_trigger(self.tick)
        end = context.add_effect(self.shutdown)

        def handler() -> None:
            self.value += self.firings
            if not self.rounds.more(self.value):
                end.trigger_shutdown()

        return handler


def timers(task: Task, probe: Probe, environment: xronos.Environment) -> Callable[[], None]:
    """Independent timers and the clock that counts rounds; returns what reports how often each fired."""
    clock = environment.create_reactor("clock", Clock, task, probe)
    tickers = [
        environment.create_reactor(f"ticker_{index}", Ticker, offset_ns, task.timer_period_ns)
        for index, offset_ns in enumerate(task.timer_offsets_ns())
    ]
    return lambda: probe.state(clock.value, [ticker.fired for ticker in tickers])


def _duration(time_ns: int) -> dt.timedelta:
    return dt.timedelta(microseconds=time_ns / 1_000)


# Makes the reactors; what it returns, if anything, is done when they have ended.
SHAPES: dict[str, Callable[[Task, Probe, Any], Callable[[], None] | None]] = {
    "ping_pong": ping_pong,
    "thread_ring": ring,
    "counting": counting,
    "fan_out": fan_out,
    "chain": ring,
    "timers": timers,
}


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe; logical time, which the timers use, runs freely."""
    environment = xronos.Environment(fast=True)
    finish = SHAPES[task.shape](task, probe, environment)
    environment.execute()
    if finish is not None:
        finish()

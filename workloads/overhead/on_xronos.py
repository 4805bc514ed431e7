"""The shapes as reactors of xronos, a runtime in C++ with reactions in Python."""

import datetime as dt
from collections.abc import Callable

from workloads.overhead.rounds import Rounds
from workloads.overhead.task import SUM_MODULUS, Task
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

try:
    import xronos
except ImportError:
    raise UnsupportedError.missing("xronos") from None

Handler = Callable[[], None]

NEXT_MICROSTEP = dt.timedelta(0)


class Member(xronos.Reactor):
    """Adds its own step to the value it receives."""

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


class Ping(xronos.Reactor):
    """Serves, and returns what it is returned."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.mark = task.seed + task.messages_per_round

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Serve."""
        context.add_trigger(self.startup)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            self.rounds.probe.ready()
            passed.set(self.task.seed)

        return handler

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Return the ball until the last round is over."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            value = taken.get()
            if value == self.mark:
                self.mark += self.task.messages_per_round
                if not self.rounds.more(value):
                    return
            passed.set(value)

        return handler


def ping_pong(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    ping = environment.create_reactor("ping", Ping, task, probe)
    pong = environment.create_reactor("pong", Member, 0)
    environment.connect(ping.passed, pong.taken)
    environment.connect(pong.passed, ping.taken, NEXT_MICROSTEP)
    environment.execute()


class Starter(xronos.Reactor):
    """The first member of a ring: starts the token and counts its laps."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.step = 1
        self.round_sum = task.messages_per_round * sum(range(1, task.actors + 1))
        self.mark = task.seed + self.round_sum

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Start the token."""
        context.add_trigger(self.startup)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            self.rounds.probe.ready()
            passed.set(self.task.seed + self.step)

        return handler

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Pass the token on until the last round is over."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            value = taken.get()
            if value == self.mark:
                self.mark += self.round_sum
                if not self.rounds.more(value):
                    return
            passed.set(value + self.step)

        return handler


def thread_ring(
    task: Task, probe: Probe, environment: xronos.Environment, hop: dt.timedelta | None = NEXT_MICROSTEP
) -> None:
    """Run all rounds of the task, reporting to the probe. `hop`: the delay between members, or None for the same tag.
    The way back is always an event."""
    starter = environment.create_reactor("starter", Starter, task, probe)
    last = starter.passed
    for index in range(1, task.actors):
        member = environment.create_reactor(f"member_{index}", Member, index)
        environment.connect(last, member.taken, hop)
        last = member.passed
    environment.connect(last, starter.taken, NEXT_MICROSTEP)
    environment.execute()


def chain(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """A ring in which the whole way is one tag."""
    thread_ring(task, probe, environment, hop=None)


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

        def handler() -> None:
            if self.rounds.more(total.get()):
                again.schedule(None)

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
    """Run all rounds of the task, reporting to the probe."""
    producer = environment.create_reactor("producer", Producer, task, probe)
    counter = environment.create_reactor("counter", Counter)
    environment.connect(producer.increment, counter.increment)
    environment.connect(producer.retrieve, counter.retrieve)
    environment.connect(counter.total, producer.total)
    environment.execute()


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

        def handler() -> None:
            self.left -= 1
            if self.left:
                value.set(replies[-1].get())
                return
            self.left = self.task.messages_per_round
            total = sum(reply.get() for reply in replies) % SUM_MODULUS
            if self.rounds.more(total):
                value.set(total)

        return handler


def fan_out(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    ports = {name: xronos.InputPortDeclaration[int]() for name in _replies(task)}
    hub = environment.create_reactor("hub", type("HubOfAll", (Hub,), ports), task, probe)
    for index, reply in enumerate(hub.replies):
        client = environment.create_reactor(f"client_{index}", Member, index)
        environment.connect(hub.value, client.taken, NEXT_MICROSTEP)
        environment.connect(client.passed, reply)
    environment.execute()


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


def timers(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    environment.create_reactor("clock", Clock, task, probe)
    tickers = [
        environment.create_reactor(f"ticker_{index}", Ticker, offset_ns, task.timer_period_ns)
        for index, offset_ns in enumerate(task.timer_offsets_ns())
    ]
    environment.execute()
    probe.state([ticker.fired for ticker in tickers])


def _duration(time_ns: int) -> dt.timedelta:
    return dt.timedelta(microseconds=time_ns / 1_000)


def run(task: Task, probe: Probe) -> None:
    """Run all rounds by the function of the shape, reporting to the probe; logical time runs freely."""
    globals()[task.shape](task, probe, xronos.Environment(fast=True))

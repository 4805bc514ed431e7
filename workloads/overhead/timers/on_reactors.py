"""Timers as a bank of reactors with a timer each, and a clock that counts the rounds."""

from reactorlib import (
    NSEC,
    Bank,
    Input,
    Output,
    Reactor,
    Timer,
    connect,
    reaction,
    request_stop,
    shutdown,
    startup,
)
from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.probe import Probe


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
        self.rounds = Rounds(task, probe, counts_follow=True)
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

"""Timers as reactors of xronos with a timer each, and a clock that counts the rounds."""

import datetime as dt

import xronos

from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.overhead.xronos_reactors import Handler
from workloads.probe import Probe


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
        self.rounds = Rounds(task, probe, counts_follow=True)
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


def run(task: Task, probe: Probe, environment: xronos.Environment) -> None:
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

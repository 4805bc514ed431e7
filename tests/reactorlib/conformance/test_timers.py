"""Row "timer"."""

import pytest

from reactorlib import MSEC, SEC, Bank, LogicalAction, Mode, Output, Reactor, Tag, Timer, reaction
from tests.reactorlib.observing import Execute, reactions, values


class Periodic(Reactor):
    tick = Timer(offset="offset", period="period")

    def __init__(self, offset: int, period: int):
        pass

    @reaction(tick)
    def beat(self, tick): ...


def test_timer_fires_at_its_offset_and_then_every_period(execute: Execute) -> None:
    result = execute(Periodic, offset=2 * MSEC, period=3 * MSEC, timeout=9 * MSEC)
    assert reactions(result) == [(at * MSEC, 0, "Periodic.beat") for at in (2, 5, 8)]


@pytest.mark.parametrize("offset", [0, 2 * MSEC])
def test_timer_with_period_zero_fires_once(execute: Execute, offset: int) -> None:
    result = execute(Periodic, offset=offset, period=0, timeout=9 * MSEC)
    assert reactions(result) == [(offset, 0, "Periodic.beat")]
    assert result.tag == Tag(offset, 1)  # and leaves nothing behind to wait for


class Once(Reactor):
    by_default = Timer()
    without_period = Timer(offset=1 * MSEC)
    positional = Timer(2 * MSEC, 5 * MSEC)

    @reaction(by_default)
    def first(self, by_default): ...

    @reaction(without_period)
    def second(self, without_period): ...

    @reaction(positional)
    def third(self, positional): ...


def test_timer_without_period_fires_once_and_without_offset_at_once(execute: Execute) -> None:
    assert reactions(execute(Once, timeout=7 * MSEC)) == [
        (0, 0, "Once.first"),
        (1 * MSEC, 0, "Once.second"),
        (2 * MSEC, 0, "Once.third"),
        (7 * MSEC, 0, "Once.third"),
    ]


class Beside(Reactor):
    """Timers fire at microstep 0 only, whatever else goes on at that time."""

    tick = Timer(offset=0, period=1 * MSEC)
    again = LogicalAction()

    @reaction(tick, effects=again)
    def beat(self, tick, again):
        again.schedule()

    @reaction(again)
    def repeat(self, again): ...


def test_timer_fires_at_microstep_zero(execute: Execute) -> None:
    assert reactions(execute(Beside, timeout=1 * MSEC)) == [
        (0, 0, "Beside.beat"),
        (0, 1, "Beside.repeat"),
        (1 * MSEC, 0, "Beside.beat"),
    ]


class Unheard(Reactor):
    """Timers that no reaction names, one of them in a mode, one in a reactor that reads another one."""

    one = Mode(initial=True)
    never = Timer(offset=0, period=1 * MSEC)
    tick = Timer(offset=2 * MSEC)

    with one:
        inside = Timer(offset=1 * MSEC, period=1 * MSEC)

    def __init__(self):
        self.periodic = Bank(Silent, 3)

    @reaction(tick)
    def beat(self, tick): ...


class Silent(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)


@pytest.mark.parametrize("timeout", [None, 1000 * SEC])
def test_a_timer_that_no_reaction_names_keeps_nothing_running(execute: Execute, timeout: int | None) -> None:
    result = execute(Unheard, timeout=timeout)
    assert reactions(result) == [(2 * MSEC, 0, "Unheard.beat")]
    assert result.tag == Tag(2 * MSEC, 1)


class ReadOnly(Reactor):
    """A timer that triggers nothing is read."""

    often = Timer(offset=0, period=1 * MSEC)
    seldom = Timer(offset=0, period=2 * MSEC)
    seen = Output[bool]()

    @reaction(often, uses=seldom, effects=seen)
    def read(self, often, seldom, seen):
        seen.set(seldom.is_present)


def test_a_timer_that_is_only_read_fires(execute: Execute) -> None:
    assert values(execute(ReadOnly, timeout=3 * MSEC), "ReadOnly.seen") == [True, False, True, False]


class Ticking(Reactor):
    tick = Timer(offset=0, period=4 * MSEC)

    @reaction(tick)
    def beat(self, tick): ...


def test_periodic_timer_runs_until_the_timeout(execute: Execute) -> None:
    assert execute(Ticking, timeout=10 * MSEC).tag == Tag(10 * MSEC, 0)

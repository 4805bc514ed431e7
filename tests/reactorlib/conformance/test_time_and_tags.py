"""Section "Time and tags" and row "timer"."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reactorlib import (
    HOUR,
    MINUTE,
    MSEC,
    NSEC,
    SEC,
    USEC,
    Bank,
    Input,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    ReactorError,
    Tag,
    Timer,
    connect,
    current_tag,
    logical_elapsed,
    logical_time,
    physical_elapsed,
    physical_time,
    reaction,
    run,
    start_time,
    startup,
)
from reactorlib.tag import LONGEST, Time
from tests.reactorlib.conformance.faulty import declaring
from tests.reactorlib.conformance.reactors import Members, Pair, Source, noted
from tests.reactorlib.observing import Execute, reactions, story, values, written


def test_tags_are_ordered_by_time_then_microstep() -> None:
    tags = [Tag(2, 0), Tag(1, 1), Tag(1, 0), Tag(0, 7)]
    assert sorted(tags) == [Tag(0, 7), Tag(1, 0), Tag(1, 1), Tag(2, 0)]
    assert Tag(1, 0) != Tag(1, 1)


def test_units_are_integer_nanoseconds() -> None:
    assert (NSEC, USEC, MSEC, SEC) == (1, 10**3, 10**6, 10**9)
    assert (MINUTE, HOUR) == (60 * SEC, 3600 * SEC)
    assert all(isinstance(3 * unit, int) for unit in (NSEC, USEC, MSEC, SEC, MINUTE, HOUR))


class Beginning(Reactor):
    at_once, by_default, later = Timer(offset=0), Timer(), Timer(offset=1 * MSEC)
    positional = Timer(2 * MSEC, 5 * MSEC)
    begin, first, both = noted(startup), noted(at_once), noted(startup, by_default)
    second, third = noted(later), noted(positional)


def test_run_starts_at_zero_with_startup_and_timers_of_offset_zero(execute: Execute) -> None:
    """A timer without a period fires once, and one without an offset at once."""
    told = "0 begin, 0 first, 0 both, 1 second, 2 third, 7 third"
    assert story(execute(Beginning, timeout=7 * MSEC)) == told


class Periodic(Reactor):
    tick = Timer(offset="offset", period="period")
    beat = noted(tick)

    def __init__(self, offset: int = 0, period: int = 0): ...


@pytest.mark.parametrize(("timeout", "ticks"), [(9, (2, 5, 8)), (8, (2, 5, 8))])
def test_timer_fires_at_its_offset_and_then_every_period_until_the_timeout(execute: Execute, timeout, ticks) -> None:
    result = execute(Periodic, offset=2 * MSEC, period=3 * MSEC, timeout=timeout * MSEC)
    assert reactions(result) == [(at * MSEC, 0, "Periodic.beat") for at in ticks]
    assert result.tag == Tag(timeout * MSEC, 0)


@pytest.mark.parametrize("offset", [0, 2 * MSEC])
def test_timer_with_period_zero_fires_once(execute: Execute, offset: int) -> None:
    result = execute(Periodic, offset=offset, timeout=9 * MSEC)
    assert reactions(result) == [(offset, 0, "Periodic.beat")]
    assert result.tag == Tag(offset, 1)  # and leaves nothing behind to wait for


YEARS = 365 * 24 * HOUR


class Passing(Reactor):
    """A round takes a hundred years, so that a fourth value would be sent after 2^63 ns."""

    inp, out = Input[int](), Output[int]()
    act = LogicalAction[int](min_delay=60 * YEARS)

    @reaction(startup, inp, effects=act)
    def plan(self, inp, act):
        value = (inp.value or 0) + 1
        if value < 6:
            act.schedule(value=value)

    @reaction(act, effects=out)
    def send(self, act, out):
        out.set(act.value)


class Centuries(Reactor):
    def __init__(self):
        self.passing = Passing()
        connect(self.passing.out, self.passing.inp, after=40 * YEARS)


@pytest.mark.parametrize("timeout", [None, 291 * YEARS])
def test_an_event_too_late_for_63_bits_never_happens(execute: Execute, timeout: int | None) -> None:
    result = execute(Centuries, timeout=timeout)
    assert [(at // YEARS, value) for at, _, value in written(result, "Centuries.passing.out")] == [
        (60, 1),
        (160, 2),
        (260, 3),
    ]
    assert result.tag == Tag(260 * YEARS, 1)  # and leaves nothing behind to wait for


@pytest.mark.parametrize("fast", [False, True])
def test_a_timer_with_the_longest_period_fires_once(execute: Execute, fast: bool) -> None:
    result = execute(Periodic, period=Time(LONGEST), fast=fast)
    assert reactions(result) == [(0, 0, "Periodic.beat")]
    assert result.tag == Tag(0, 1)


@pytest.mark.parametrize("timeout", [None, 1000 * SEC])
def test_a_timer_that_no_reaction_names_keeps_nothing_running(execute: Execute, timeout: int | None) -> None:
    class Unheard(Reactor):
        one = Mode(initial=True)
        never, tick = Timer(offset=0, period=1 * MSEC), Timer(offset=2 * MSEC)
        beat = noted(tick)

        with one:
            inside = Timer(offset=1 * MSEC, period=1 * MSEC)

        def __init__(self):
            self.periodic = Bank(type("Silent", (Reactor,), {"tick": Timer(offset=0, period=1 * MSEC)}), 3)

    result = execute(Unheard, timeout=timeout)
    assert reactions(result) == [(2 * MSEC, 0, "Unheard.beat")]
    assert result.tag == Tag(2 * MSEC, 1)


def test_a_timer_that_is_only_read_fires(execute: Execute) -> None:
    class ReadOnly(Reactor):
        often, seldom = Timer(offset=0, period=1 * MSEC), Timer(offset=0, period=2 * MSEC)
        seen = Output[bool]()

        @reaction(often, uses=seldom, effects=seen)
        def read(self, often, seldom, seen):
            seen.set(seldom.is_present)

    assert values(execute(ReadOnly, timeout=3 * MSEC), "ReadOnly.seen") == [True, False, True, False]


class Clocks(Reactor):
    fast, slow = Timer(offset=0, period=2 * MSEC), Timer(offset=0, period=3 * MSEC)
    seen = Output[tuple]()

    @reaction(fast, slow, effects=seen)
    def tick(self, fast, slow, seen):
        seen.set((fast.is_present, slow.is_present))


def test_events_of_one_tag_are_simultaneous(execute: Execute) -> None:
    assert written(execute(Clocks, timeout=6 * MSEC), "Clocks.seen") == [
        (0, 0, (True, True)),
        (2 * MSEC, 0, (True, False)),
        (3 * MSEC, 0, (False, True)),
        (4 * MSEC, 0, (True, False)),
        (6 * MSEC, 0, (True, True)),
    ]


def test_reactions_read_tag_and_logical_time_and_the_run_has_one_start(execute: Execute) -> None:
    """A timer fires at microstep 0 only, whatever else goes on at its time."""

    class Watch(Reactor):
        tick = Timer(offset=1 * MSEC, period=2 * MSEC)
        again = LogicalAction()
        told = Output[tuple]()

        @reaction(tick, effects=again)
        def beat(self, tick, again):
            again.schedule()

        @reaction(tick, again, effects=told)
        def read(self, tick, again, told):
            starts = {start_time(), logical_time() - logical_elapsed()}
            told.set((tick.is_present, tuple(current_tag()), logical_elapsed(), starts))

    before = time.time_ns()
    result = execute(Members, kind=Watch, count=3, timeout=4 * MSEC)  # on every worker
    starts: set[int] = set()
    for index in range(3):
        told = written(result, f"Members.members[{index}].told")
        assert [(at, microstep, *value[:3]) for at, microstep, value in told] == [
            (at * MSEC, microstep, microstep == 0, (at * MSEC, microstep), at * MSEC)
            for at in (1, 3)
            for microstep in (0, 1)
        ]
        starts = starts.union(*(value[3] for *_, value in told))
    [start] = starts
    assert abs(start - before) < 1 * MINUTE


@pytest.mark.parametrize("slow", [False, True])
def test_logical_time_waits_for_physical_time_and_catches_up_without_dropping(execute: Execute, slow: bool) -> None:
    class Paced(Reactor):
        """At 1 ms its reaction takes long, if it is slow."""

        tick = Timer(offset=0, period=1 * MSEC)
        lag = Output[tuple]()

        def __init__(self, slow: bool):
            self.slow = slow

        @reaction(tick, effects=lag)
        def beat(self, tick, lag):
            lag.set((physical_elapsed() - logical_elapsed(), physical_time() - logical_time()))
            if self.slow and logical_elapsed() == 1 * MSEC:
                while physical_elapsed() < 6 * MSEC:
                    pass

    begun = time.monotonic_ns()
    result = execute(Paced, slow=slow, timeout=8 * MSEC, fast=False)
    assert time.monotonic_ns() - begun >= 8 * MSEC
    lags = written(result, "Paced.lag")
    assert [step[:2] for step in lags] == [(at * MSEC, 0) for at in range(9)]
    assert all(by_elapsed >= 0 and by_clock >= 0 for *_, (by_elapsed, by_clock) in lags)
    assert not slow or lags[2][-1][0] >= 4 * MSEC  # the tick at 2 ms had to wait


def test_fast_run_does_not_wait(execute: Execute) -> None:
    begun = time.monotonic_ns()
    result = execute(Periodic, period=12 * HOUR, timeout=24 * HOUR)
    assert reactions(result) == [(at * HOUR, 0, "Periodic.beat") for at in (0, 12, 24)]
    assert time.monotonic_ns() - begun < 60 * SEC


WANTED: dict[str, Callable[[Any], object]] = {
    "offset": lambda time: run(declaring(it=Timer(offset=time)), timeout=0, fast=True),
    "period": lambda time: run(declaring(it=Timer(period=time)), timeout=0, fast=True),
    "min_delay": lambda time: run(declaring(it=LogicalAction(min_delay=time)), timeout=0, fast=True),
    "min_spacing": lambda time: run(declaring(it=LogicalAction(min_spacing=time)), timeout=0, fast=True),
    "after": lambda time: run(Pair, source=lambda: Source(1), after=time, timeout=0, fast=True),
    "deadline": lambda time: run(declaring(it=noted(startup, deadline=time)), timeout=0, fast=True),
    "timeout": lambda time: run(Beginning, timeout=time, fast=True),
}


@pytest.mark.parametrize("bare", [10, 1.5, "2 ms", "", False, [], 0.0], ids=repr)
@pytest.mark.parametrize("name", WANTED)
def test_a_value_that_is_no_time_is_an_error_that_names_the_parameter(name: str, bare: object) -> None:
    with pytest.raises(ReactorError, match=name):
        WANTED[name](bare)


@pytest.mark.parametrize("name", WANTED)
def test_zero_needs_no_unit(name: str) -> None:
    assert WANTED[name](0).tag == Tag(0, 0)


@pytest.mark.parametrize("wrong", [0.5 * SEC, SEC / 2, np.float64(3), 1.0])
@pytest.mark.parametrize("name", ["period", "timeout"])
def test_a_float_is_no_time_and_the_message_says_where_its_factor_goes(name: str, wrong: Any) -> None:
    with pytest.raises(ReactorError, match=rf"{name} .*SEC \* 0.5.*SEC // 2"):
        WANTED[name](wrong)


@pytest.mark.parametrize("bare", [5, np.int64(5)])
def test_a_bare_number_is_told_both_ways_to_give_it_a_unit(bare: Any) -> None:
    with pytest.raises(ReactorError, match=r"period .*5 \* NSEC.*5 \* MSEC.*\.py:\d+"):
        WANTED["period"](bare)


def test_a_fraction_is_rounded_to_the_nanosecond() -> None:
    assert (SEC * 1.001, MSEC * 8.2, SEC * 0.5) == (1_001_000_000, 8_200_000, 500_000_000)
    assert all(SEC * (ms / 1000) == ms * MSEC for ms in range(2000))


@pytest.mark.parametrize(
    ("made", "expected", "kind"),
    [
        (SEC // 2, 500_000_000, Time),
        (SEC % (300 * MSEC), 100_000_000, Time),
        (sum([SEC, MSEC]), 1_001_000_000, Time),
        (SEC // MSEC, 1000, int),  # how often a time fits is a number
        *((SEC * kind(5), 5_000_000_000, Time) for kind in (np.int64, np.int8, np.uint16, np.float64, np.float32)),
    ],
)
def test_a_time_calculated_from_times_is_one(made: Any, expected: int, kind: type) -> None:
    assert type(made) is kind
    assert made == expected


def test_a_text_is_no_number() -> None:
    for calculate in (lambda: MSEC * "5", lambda: MSEC + "5", lambda: MSEC - "5", lambda: MSEC // "5"):  # type: ignore[operator,call-overload]  # what is refused
        with pytest.raises(TypeError):
            calculate()


def test_times_and_widths_made_of_numpys_numbers(execute: Execute) -> None:
    class FromNumPy(Reactor):
        tick = Timer(MSEC * np.int64(1), MSEC * np.int32(2))
        wide = Output[int](width=np.int64(3))
        act = LogicalAction[int]()
        follow = noted(act)

        @reaction(tick, effects=[wide, act])
        def beat(self, tick, wide, act):
            wide[2].set(len(wide))
            act.schedule(USEC * np.int64(250))

    assert story(execute(FromNumPy, timeout=MSEC * np.int64(2))) == "1 beat, 1.25 follow"

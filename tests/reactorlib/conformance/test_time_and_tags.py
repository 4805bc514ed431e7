"""Section "Time and tags"."""

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
    LogicalAction,
    Output,
    Reactor,
    ReactorError,
    Tag,
    Timer,
    connect,
    current_tag,
    elaborate,
    logical_elapsed,
    logical_time,
    physical_elapsed,
    physical_time,
    reaction,
    run,
    start_time,
    startup,
)
from reactorlib.tag import Time
from tests.reactorlib.observing import Execute, reactions, steps, written


def test_tags_are_ordered_by_time_then_microstep() -> None:
    tags = [Tag(2, 0), Tag(1, 1), Tag(1, 0), Tag(0, 7)]
    assert sorted(tags) == [Tag(0, 7), Tag(1, 0), Tag(1, 1), Tag(2, 0)]
    assert Tag(1, 0) != Tag(1, 1)


def test_units_are_integer_nanoseconds() -> None:
    assert (NSEC, USEC, MSEC, SEC) == (1, 10**3, 10**6, 10**9)
    assert (MINUTE, HOUR) == (60 * SEC, 3600 * SEC)
    assert all(isinstance(3 * unit, int) for unit in (NSEC, USEC, MSEC, SEC, MINUTE, HOUR))


class Beginning(Reactor):
    at_once = Timer(offset=0)
    later = Timer(offset=1 * MSEC)

    @reaction(startup)
    def begin(self): ...

    @reaction(at_once)
    def first(self, at_once): ...

    @reaction(startup, at_once)
    def both(self, at_once): ...

    @reaction(later)
    def second(self, later): ...


def test_run_starts_at_zero_with_startup_and_timers_of_offset_zero(execute: Execute) -> None:
    assert reactions(execute(Beginning)) == [
        (0, 0, "Beginning.begin"),
        (0, 0, "Beginning.first"),
        (0, 0, "Beginning.both"),
        (1 * MSEC, 0, "Beginning.second"),
    ]


class Clocks(Reactor):
    fast = Timer(offset=0, period=2 * MSEC)
    slow = Timer(offset=0, period=3 * MSEC)
    seen = Output[tuple]()

    @reaction(fast, slow, effects=seen)
    def tick(self, fast, slow, seen):
        seen.set((fast.is_present, slow.is_present))


def test_what_happens_at_one_tag_is_simultaneous(execute: Execute) -> None:
    assert written(execute(Clocks, timeout=6 * MSEC), "Clocks.seen") == [
        (0, 0, (True, True)),
        (2 * MSEC, 0, (True, False)),
        (3 * MSEC, 0, (False, True)),
        (4 * MSEC, 0, (True, False)),
        (6 * MSEC, 0, (True, True)),
    ]


class Watch(Reactor):
    tick = Timer(offset=1 * MSEC, period=2 * MSEC)
    again = LogicalAction()
    tag = Output[tuple]()
    elapsed = Output[tuple]()

    @reaction(tick, effects=again)
    def beat(self, tick, again):
        again.schedule()

    @reaction(tick, again, effects=[tag, elapsed])
    def read(self, tick, again, tag, elapsed):
        tag.set(tuple(current_tag()))
        elapsed.set((logical_elapsed(), logical_time() - logical_elapsed()))


def test_reactions_read_tag_and_logical_time(execute: Execute) -> None:
    result = execute(Watch, timeout=4 * MSEC)
    tags = [(1 * MSEC, 0), (1 * MSEC, 1), (3 * MSEC, 0), (3 * MSEC, 1)]
    assert written(result, "Watch.tag") == [(*tag, tag) for tag in tags]
    elapsed = written(result, "Watch.elapsed")
    assert [value[0] for *_, value in elapsed] == [1 * MSEC, 1 * MSEC, 3 * MSEC, 3 * MSEC]
    assert len({value[1] for *_, value in elapsed}) == 1  # one start for the whole run


class Starts(Reactor):
    """Members on every worker."""

    def __init__(self):
        self.members = Bank(Started, 3)


class Started(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    start = Output[tuple]()

    @reaction(tick, effects=start)
    def tell(self, tick, start):
        start.set((start_time(), logical_time() - logical_elapsed()))


def test_the_run_has_one_start_time(execute: Execute) -> None:
    before = time.time_ns()
    result = execute(Starts, timeout=2 * MSEC)
    starts = [value for index in range(3) for *_, value in written(result, f"Starts.members[{index}].start")]
    assert len(starts) == 6
    [start] = {time_ns for pair in starts for time_ns in pair}
    assert abs(start - before) < 1 * MINUTE


class Paced(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    lag = Output[tuple]()

    @reaction(tick, effects=lag)
    def beat(self, tick, lag):
        lag.set((physical_elapsed() - logical_elapsed(), physical_time() - logical_time()))


def test_logical_time_waits_for_physical_time(execute: Execute) -> None:
    begun = time.monotonic_ns()
    result = execute(Paced, timeout=10 * MSEC, fast=False)
    assert time.monotonic_ns() - begun >= 10 * MSEC
    lags = written(result, "Paced.lag")
    assert [step[:2] for step in lags] == [(at * MSEC, 0) for at in (0, 2, 4, 6, 8, 10)]
    assert all(by_elapsed >= 0 and by_clock >= 0 for *_, (by_elapsed, by_clock) in lags)


def test_fast_run_does_not_wait(execute: Execute) -> None:
    begun = time.monotonic_ns()
    result = execute(Slow, timeout=24 * HOUR)
    assert reactions(result) == [(0, 0, "Slow.beat"), (12 * HOUR, 0, "Slow.beat"), (24 * HOUR, 0, "Slow.beat")]
    assert time.monotonic_ns() - begun < 60 * SEC


class Slow(Reactor):
    tick = Timer(offset=0, period=12 * HOUR)

    @reaction(tick)
    def beat(self, tick): ...


class Blocked(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    lag = Output[int]()

    @reaction(tick, effects=lag)
    def beat(self, tick, lag):
        lag.set(physical_elapsed() - logical_elapsed())
        if logical_elapsed() == 1 * MSEC:
            while physical_elapsed() < 6 * MSEC:
                pass


def test_late_run_catches_up_and_drops_nothing(execute: Execute) -> None:
    result = execute(Blocked, timeout=8 * MSEC, fast=False)
    lags = written(result, "Blocked.lag")
    assert [step[:2] for step in lags] == [(at * MSEC, 0) for at in range(9)]
    assert lags[2][-1] >= 4 * MSEC  # the tick at 2 ms had to wait


def test_paced_and_fast_runs_have_the_same_trace(execute: Execute) -> None:
    assert steps(execute(Clocks, timeout=6 * MSEC, fast=False)) == steps(execute(Clocks, timeout=6 * MSEC))


def with_timer(**arguments: object) -> type[Reactor]:
    return type("Main", (Reactor,), {"tick": Timer(**arguments)})


def with_action(**arguments: object) -> type[Reactor]:
    return type("Main", (Reactor,), {"act": LogicalAction(**arguments)})


class Child(Reactor):
    out = Output[int]()


class Delayed(Reactor):
    first = Output[int]()

    def __init__(self, delay: object):
        self.child = Child()
        connect(self.child.out, self.first, after=delay)


class Scheduling(Reactor):
    act = LogicalAction[int]()

    def __init__(self, delay: object):
        self.delay = delay

    @reaction(startup, effects=act)
    def begin(self, act):
        act.schedule(self.delay, value=1)


def with_deadline(deadline: object) -> type[Reactor]:
    return type("Main", (Reactor,), {"begin": reaction(startup, deadline=deadline)(lambda self: None)})


WANTED: dict[str, Callable[[Any], object]] = {
    "offset": lambda time: elaborate(with_timer(offset=time)),
    "period": lambda time: elaborate(with_timer(period=time)),
    "min_delay": lambda time: elaborate(with_action(min_delay=time)),
    "min_spacing": lambda time: elaborate(with_action(min_spacing=time)),
    "after": lambda time: elaborate(Delayed, delay=time),
    "deadline": lambda time: elaborate(with_deadline(time)),
    "timeout": lambda time: run(Beginning, timeout=time, fast=True),
    "extra_delay": lambda time: run(Scheduling, delay=time, fast=True),
}


@pytest.mark.parametrize("bare", [10, 1.5, "2 ms"])
@pytest.mark.parametrize("name", WANTED)
def test_a_bare_number_where_a_time_is_wanted_is_an_error_that_names_the_parameter(name: str, bare: object) -> None:
    with pytest.raises(ReactorError, match=name):
        WANTED[name](bare)


def test_zero_needs_no_unit() -> None:
    assert run(with_timer(offset=0, period=0), timeout=0, fast=True).tag == Tag(0, 0)
    assert run(with_action(min_delay=0), timeout=0, fast=True).tag == Tag(0, 0)
    assert run(Delayed, delay=0, timeout=0, fast=True).tag == Tag(0, 0)
    assert run(Scheduling, delay=0, timeout=0, fast=True).tag == Tag(0, 0)


def test_a_fraction_is_rounded_to_the_nanosecond() -> None:
    assert (SEC * 1.001, MSEC * 8.2, SEC * 0.5) == (1_001_000_000, 8_200_000, 500_000_000)
    assert all(SEC * (ms / 1000) == ms * MSEC for ms in range(2000))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (SEC // 2, 500_000_000),
        (SEC % (300 * MSEC), 100_000_000),
        (divmod(SEC, 300 * MSEC)[1], 100_000_000),
        (abs(1 * MSEC - 2 * MSEC), 1_000_000),
        (+SEC, 1_000_000_000),
        (sum([SEC, MSEC]), 1_001_000_000),
    ],
)
def test_a_time_calculated_from_times_is_one(made: Time, expected: int) -> None:
    assert type(made) is Time
    assert made == expected


def test_how_often_a_time_fits_is_a_number() -> None:
    assert type(SEC // MSEC) is int
    assert divmod(SEC, 300 * MSEC)[0] == 3
    assert type(divmod(SEC, MSEC)[0]) is int


@pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "float64", "float32"])
def test_a_number_of_numpy_is_a_factor_behind_the_unit(kind: str) -> None:
    made = SEC * getattr(np, kind)(5)
    assert type(made) is Time
    assert made == 5_000_000_000


def test_a_text_is_no_number() -> None:
    for calculate in (lambda: MSEC * "5", lambda: MSEC + "5", lambda: MSEC - "5", lambda: MSEC // "5"):  # type: ignore[operator,call-overload]  # what is refused
        with pytest.raises(TypeError):
            calculate()


class FromNumPy(Reactor):
    tick = Timer(MSEC * np.int64(1), MSEC * np.int32(2))
    wide = Output[int](width=np.int64(3))
    act = LogicalAction[int]()

    @reaction(tick, effects=[wide, act])
    def beat(self, tick, wide, act):
        wide[2].set(len(wide))
        act.schedule(USEC * np.int64(250))

    @reaction(act)
    def follow(self, act): ...


def test_times_and_widths_made_of_numpys_numbers(execute: Execute) -> None:
    assert reactions(execute(FromNumPy, timeout=MSEC * np.int64(2))) == [
        (1 * MSEC, 0, "FromNumPy.beat"),
        (1250 * USEC, 0, "FromNumPy.follow"),
    ]


class Waiting(Reactor):
    tick = Timer(0, "period")

    def __init__(self, period: Any):
        pass

    @reaction(tick)
    def beat(self, tick): ...


@pytest.mark.parametrize("wrong", [0.5 * SEC, SEC / 2, np.float64(3), 1.0])
def test_a_float_is_no_time_and_the_message_says_where_its_factor_goes(wrong: Any) -> None:
    with pytest.raises(ReactorError, match=r"Waiting.tick: period .*SEC \* 0.5.*SEC // 2"):
        elaborate(Waiting, period=wrong)
    with pytest.raises(ReactorError, match=r"timeout .*SEC \* 0.5.*SEC // 2"):
        run(Beginning, timeout=wrong)


@pytest.mark.parametrize("bare", [5, np.int64(5)])
def test_a_bare_number_is_told_both_ways_to_give_it_a_unit(bare: Any) -> None:
    words = r"period must have a unit: 5 \* NSEC if .* nanoseconds, else 5 \* MSEC, say"
    numpys = "" if type(bare) is int else r" \(a number of NumPy's .*\)"
    with pytest.raises(ReactorError, match=words + numpys + r" \(.*\.py:\d+\)$"):
        elaborate(Waiting, period=bare)


@pytest.mark.parametrize("wrong", ["", False, [], 0.0])
def test_what_is_false_is_no_time_either(wrong: Any) -> None:
    with pytest.raises(ReactorError, match=r"Timers.tick: period (must be a time|names no)"):
        elaborate(type("Timers", (Reactor,), {"tick": Timer(0, wrong)}))
    with pytest.raises(ReactorError, match=r"Actions.act: min_spacing (must be a time|names no)"):
        elaborate(type("Actions", (Reactor,), {"act": LogicalAction(min_spacing=wrong)}))

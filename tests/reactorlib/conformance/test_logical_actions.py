"""Row "logical action"."""

from itertools import pairwise

import pytest

from reactorlib import MSEC, LogicalAction, Output, Reactor, Timer, reaction, startup
from tests.reactorlib.observing import Execute, reactions, values, written

Schedule = tuple[int, int, str]  # time of the call, extra delay, value


class Script(Reactor):
    """Schedules by a script of (time, extra delay, value), in ms, and writes down what arrives when."""

    tick = Timer(offset=0, period=1 * MSEC)
    act = LogicalAction[str](min_delay="min_delay")
    seen = Output[str]()

    def __init__(self, script: tuple[Schedule, ...], min_delay: int = 0):
        self.script = script
        self.now = -1

    @reaction(act, effects=seen)
    def arrive(self, act, seen):
        seen.set(act.value)

    @reaction(tick, effects=act)
    def play(self, tick, act):
        self.now += 1
        for at, extra, value in self.script:
            if at == self.now:
                act.schedule(extra * MSEC, value=value)


def spaced(policy: str | None, min_delay: int = 0, spacing: int = 10) -> type[Reactor]:
    """The same script with a minimum spacing, in ms."""
    options = {} if policy is None else {"policy": policy}

    class Spaced(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        act = LogicalAction[str](min_delay=min_delay * MSEC, min_spacing=spacing * MSEC, **options)
        seen = Output[str]()

        def __init__(self, script: tuple[Schedule, ...]):
            self.script = script
            self.now = -1

        @reaction(act, effects=seen)
        def arrive(self, act, seen):
            seen.set(act.value)

        @reaction(tick, effects=act)
        def play(self, tick, act):
            self.now += 1
            for at, extra, value in self.script:
                if at == self.now:
                    act.schedule(extra * MSEC, value=value)

    return Spaced


def played(execute: Execute, script: list[Schedule], **parameters: int) -> list[tuple[int, int, str]]:
    return written(execute(Script, timeout=60 * MSEC, script=tuple(script), **parameters), "Script.seen")


def arrivals(execute: Execute, main: type[Reactor], script: list[Schedule]) -> list[tuple[float, int, str]]:
    """(time in ms, microstep, value)"""
    result = execute(main, timeout=60 * MSEC, script=tuple(script))
    return [(at / MSEC, microstep, value) for at, microstep, value in written(result, "Spaced.seen")]


def test_tag_is_now_plus_min_delay_plus_extra_delay(execute: Execute) -> None:
    assert played(execute, [(1, 3, "a")], min_delay=2 * MSEC) == [(6 * MSEC, 0, "a")]
    assert played(execute, [(1, 0, "a")], min_delay=2 * MSEC) == [(3 * MSEC, 0, "a")]
    assert played(execute, [(1, 3, "a")]) == [(4 * MSEC, 0, "a")]


def test_total_delay_of_zero_is_the_next_microstep(execute: Execute) -> None:
    assert played(execute, [(1, 0, "a")]) == [(1 * MSEC, 1, "a")]


class Chain(Reactor):
    act = LogicalAction[int]()
    later = LogicalAction[int](min_delay=2 * MSEC)

    @reaction(startup, effects=act)
    def begin(self, act):
        act.schedule(value=3)

    @reaction(act, effects=[act, later])
    def repeat(self, act, later):
        if act.value:
            act.schedule(value=act.value - 1)
        later.schedule(value=act.value)

    @reaction(later)
    def end(self, later): ...


def test_microsteps_count_up_and_a_delay_begins_at_zero_again(execute: Execute) -> None:
    assert reactions(execute(Chain)) == [
        (0, 0, "Chain.begin"),
        *((0, microstep, "Chain.repeat") for microstep in (1, 2, 3, 4)),
        *((2 * MSEC, microstep, "Chain.end") for microstep in (0, 1, 2, 3)),
    ]


def test_second_schedule_for_one_tag_moves_to_the_next_free_microstep(execute: Execute) -> None:
    assert played(execute, [(1, 2, "a"), (1, 2, "b"), (1, 2, "c")]) == [
        (3 * MSEC, 0, "a"),
        (3 * MSEC, 1, "b"),
        (3 * MSEC, 2, "c"),
    ]
    assert played(execute, [(1, 2, "a"), (2, 1, "b"), (3, 0, "c")]) == [
        (3 * MSEC, 0, "a"),
        (3 * MSEC, 1, "b"),
        (3 * MSEC, 2, "c"),
    ]


class TwoActions(Reactor):
    left = LogicalAction[int](min_delay=1 * MSEC)
    right = LogicalAction[int](min_delay=1 * MSEC)
    seen = Output[tuple]()

    @reaction(startup, effects=[left, right])
    def begin(self, left, right):
        left.schedule(value=1)
        right.schedule(value=2)

    @reaction(left, right, effects=seen)
    def both(self, left, right, seen):
        seen.set((left.value, right.value))


def test_different_actions_share_a_tag(execute: Execute) -> None:
    assert written(execute(TwoActions), "TwoActions.seen") == [(1 * MSEC, 0, (1, 2))]


def test_events_arrive_in_tag_order_whatever_the_order_of_scheduling(execute: Execute) -> None:
    assert played(execute, [(0, 9, "c"), (0, 2, "a"), (1, 4, "b")]) == [
        (2 * MSEC, 0, "a"),
        (5 * MSEC, 0, "b"),
        (9 * MSEC, 0, "c"),
    ]


class Valueless(Reactor):
    act = LogicalAction()
    seen = Output[tuple]()

    @reaction(startup, effects=act)
    def begin(self, act):
        act.schedule()

    @reaction(act, effects=seen)
    def arrive(self, act, seen):
        seen.set((act.is_present, act.value))


def test_schedule_needs_no_value(execute: Execute) -> None:
    assert values(execute(Valueless), "Valueless.seen") == [(True, None)]


class Presence(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    act = LogicalAction[int](min_delay=1 * MSEC)
    seen = Output[bool]()

    @reaction(tick, uses=act, effects=[act, seen])
    def beat(self, tick, act, seen):
        seen.set(act.is_present)
        if not hasattr(self, "scheduled"):
            self.scheduled = True
            act.schedule(value=1)


def test_action_is_present_at_its_tag_only(execute: Execute) -> None:
    assert values(execute(Presence, timeout=2 * MSEC), "Presence.seen") == [False, True, False]


CROWD = [(0, 0, "a"), (3, 0, "b"), (5, 0, "c")]


@pytest.mark.parametrize("policy", [None, "defer"])
def test_defer_moves_the_event_to_the_earliest_spaced_time(execute: Execute, policy: str | None) -> None:
    assert arrivals(execute, spaced(policy), CROWD) == [(0, 1, "a"), (10, 0, "b"), (20, 0, "c")]


def test_drop_forgets_the_event(execute: Execute) -> None:
    assert arrivals(execute, spaced("drop"), [*CROWD, (10, 0, "d")]) == [(0, 1, "a"), (10, 1, "d")]


def test_replace_gives_the_pending_event_the_new_value(execute: Execute) -> None:
    script = [(0, 2, "a"), (1, 3, "b")]  # a is pending for 2 ms
    assert arrivals(execute, spaced("replace"), script) == [(2, 0, "b")]


def test_replace_defers_where_the_event_before_is_not_pending(execute: Execute) -> None:
    assert arrivals(execute, spaced("replace"), CROWD) == [(0, 1, "a"), (10, 0, "c")]


def test_update_puts_the_new_event_in_place_of_the_pending_one(execute: Execute) -> None:
    script = [(0, 2, "a"), (1, 3, "b")]
    assert arrivals(execute, spaced("update"), script) == [(4, 0, "b")]


def test_update_defers_where_the_event_before_is_not_pending(execute: Execute) -> None:
    assert arrivals(execute, spaced("update"), CROWD[:2]) == [(0, 1, "a"), (10, 0, "b")]


@pytest.mark.parametrize("policy", ["defer", "drop", "replace", "update"])
def test_spacing_leaves_alone_what_is_far_enough_apart(execute: Execute, policy: str) -> None:
    script = [(0, 0, "a"), (10, 0, "b"), (25, 0, "c")]
    assert arrivals(execute, spaced(policy), script) == [(0, 1, "a"), (10, 1, "b"), (25, 1, "c")]


def test_spacing_counts_from_the_tag_of_the_event_and_not_of_the_call(execute: Execute) -> None:
    script = [(0, 0, "a"), (1, 0, "b")]
    assert arrivals(execute, spaced("defer", min_delay=7), script) == [(7, 0, "a"), (17, 0, "b")]


def test_spacing_separates_schedules_of_one_reaction(execute: Execute) -> None:
    script = [(0, 4, "a"), (0, 4, "b"), (0, 4, "c")]
    assert arrivals(execute, spaced("defer"), script) == [(4, 0, "a"), (14, 0, "b"), (24, 0, "c")]
    assert arrivals(execute, spaced("drop"), script) == [(4, 0, "a")]
    assert arrivals(execute, spaced("replace"), script) == [(4, 0, "c")]


def test_update_keeps_the_spacing_from_the_event_before_the_pending_one(execute: Execute) -> None:
    script = [(0, 0, "a"), (1, 9, "b"), (2, 0, "c")]  # c would stand 2 ms after a
    assert arrivals(execute, spaced("update", spacing=5), script) == [(0, 1, "a"), (5, 0, "c")]
    script = [(0, 5, "a"), (0, 20, "b"), (1, 5, "c")]  # c would stand 1 ms after a, which is pending as well
    assert arrivals(execute, spaced("update", spacing=3), script) == [(5, 0, "a"), (8, 0, "c")]


@pytest.mark.parametrize("policy", ["defer", "drop", "replace", "update"])
def test_no_two_events_are_closer_than_the_spacing(execute: Execute, policy: str) -> None:
    script = [(at, extra, f"{at}+{extra}") for at in range(30) for extra in (3, 0)]
    times = [at for at, *_ in arrivals(execute, spaced(policy, spacing=2), script)]
    assert len(times) > 5
    assert min(after - before for before, after in pairwise(times)) >= 2


ONE_TAG = [(0, 2, "a"), (0, 2, "b"), (1, 1, "c"), (3, 0, "d"), (3, 0, "e")]  # three for 2 ms, two for 3 ms


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("defer", [(2, 0, "a"), (2, 1, "b"), (2, 2, "c"), (3, 1, "d"), (3, 2, "e")]),
        ("drop", [(2, 0, "a"), (3, 1, "d")]),
        ("replace", [(2, 0, "c"), (3, 1, "e")]),
        ("update", [(2, 0, "c"), (3, 1, "e")]),
    ],
)
def test_a_spacing_of_zero_settles_events_of_one_tag(
    execute: Execute, policy: str, expected: list[tuple[float, int, str]]
) -> None:
    assert arrivals(execute, spaced(policy, spacing=0), ONE_TAG) == expected


BEFORE = [(0, 5, "a"), (1, 2, "b")]  # b for 3 ms, which is before the pending a


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("defer", [(5, 0, "a"), (5, 1, "b")]),
        ("drop", [(5, 0, "a")]),
        ("replace", [(5, 0, "b")]),
        ("update", [(3, 0, "b")]),
        (None, [(5, 0, "a"), (5, 1, "b")]),
    ],
)
def test_a_spacing_of_zero_keeps_the_order_of_scheduling(
    execute: Execute, policy: str | None, expected: list[tuple[float, int, str]]
) -> None:
    """As any spacing does, and as no spacing does not."""
    assert arrivals(execute, spaced(policy, spacing=0), BEFORE) == expected
    assert played(execute, BEFORE) == [(3 * MSEC, 0, "b"), (5 * MSEC, 0, "a")]


class Looping(Reactor):
    """An event schedules the next one for the next microstep, which a spacing of 0 lets pass."""

    act = LogicalAction[int](min_spacing=0, policy="drop")
    seen = Output[int]()

    @reaction(startup, effects=act)
    def begin(self, act):
        act.schedule(value=3)

    @reaction(act, effects=[act, seen])
    def repeat(self, act, seen):
        seen.set(act.value)
        for value in range(act.value):
            act.schedule(value=value)


def test_a_spacing_of_zero_lets_the_next_microstep_pass(execute: Execute) -> None:
    assert written(execute(Looping), "Looping.seen") == [(0, 1, 3), (0, 2, 0)]


def test_values_of_one_action_do_not_overtake(execute: Execute) -> None:
    script = [(0, 5, "a"), (2, 3, "b"), (5, 0, "c")]
    assert [value for *_, value in played(execute, script)] == ["a", "b", "c"]

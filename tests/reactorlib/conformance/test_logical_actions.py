"""Row "logical action"."""

from itertools import pairwise
from typing import Any

import pytest

from reactorlib import MSEC, LogicalAction, Output, Reactor, State, Timer, reaction, startup
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute, reactions, values, written

Schedule = tuple[int, int, str]  # time of the call, extra delay, value
POLICIES = ["defer", "drop", "replace", "update"]


def arrivals(
    execute: Execute, script: list[Schedule], min_delay: int = 0, spacing: int | None = None, policy: str | None = None
) -> list[tuple[float, int, str]]:
    """The events of the script: time of arrival in ms, microstep, value."""
    options: dict[str, Any] = {} if policy is None else {"policy": policy}
    if spacing is not None:
        options["min_spacing"] = spacing * MSEC

    class Script(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        act = LogicalAction[str](min_delay=min_delay * MSEC, **options)
        seen = Output[str]()
        now = State(-1)

        @reaction(act, effects=seen)
        def arrive(self, act, seen):
            seen.set(act.value)

        @reaction(tick, effects=act)
        def play(self, tick, act):
            self.now += 1
            for at, extra, value in script:
                if at == self.now:
                    act.schedule(extra * MSEC, value=value)

    result = execute(Script, timeout=60 * MSEC)
    return [(at / MSEC, microstep, value) for at, microstep, value in written(result, "Script.seen")]


@pytest.mark.parametrize(
    ("min_delay", "extra", "tag"), [(2, 3, (6, 0)), (2, 0, (3, 0)), (0, 3, (4, 0)), (0, 0, (1, 1))]
)
def test_tag_is_now_plus_both_delays_or_the_next_microstep(execute: Execute, min_delay, extra, tag) -> None:
    assert arrivals(execute, [(1, extra, "a")], min_delay=min_delay) == [(*tag, "a")]


def test_microsteps_count_up_and_a_delay_begins_at_zero_again(execute: Execute) -> None:
    class Chain(Reactor):
        act, later = LogicalAction[int](), LogicalAction[int](min_delay=2 * MSEC)
        end = noted(later)

        @reaction(startup, effects=act)
        def begin(self, act):
            act.schedule(value=3)

        @reaction(act, effects=[act, later])
        def repeat(self, act, later):
            if act.value:
                act.schedule(value=act.value - 1)
            later.schedule(value=act.value)

    assert reactions(execute(Chain)) == [
        (0, 0, "Chain.begin"),
        *((0, microstep, "Chain.repeat") for microstep in (1, 2, 3, 4)),
        *((2 * MSEC, microstep, "Chain.end") for microstep in (0, 1, 2, 3)),
    ]


@pytest.mark.parametrize("script", [[(1, 2, "a"), (1, 2, "b"), (1, 2, "c")], [(1, 2, "a"), (2, 1, "b"), (3, 0, "c")]])
def test_second_schedule_for_one_tag_moves_to_the_next_free_microstep(execute: Execute, script) -> None:
    assert arrivals(execute, script) == [(3, 0, "a"), (3, 1, "b"), (3, 2, "c")]


def test_different_actions_share_a_tag_and_are_present_there_only_with_or_without_a_value(execute: Execute) -> None:
    class TwoActions(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        left, right = LogicalAction[int](min_delay=1 * MSEC), LogicalAction[int](min_delay=1 * MSEC)
        seen = Output[tuple]()

        @reaction(startup, effects=[left, right])
        def begin(self, left, right):
            left.schedule(value=1)
            right.schedule()

        @reaction(tick, uses=[left, right], effects=seen)
        def beat(self, tick, left, right, seen):
            seen.set([action.is_present and (action.value,) for action in (left, right)])

    result = execute(TwoActions, timeout=2 * MSEC)
    assert values(result, "TwoActions.seen") == [[False, False], [(1,), (None,)], [False, False]]


def test_events_arrive_in_tag_order_whatever_the_order_of_scheduling(execute: Execute) -> None:
    script = [(0, 9, "c"), (0, 2, "a"), (1, 4, "b")]
    assert arrivals(execute, script) == [(2, 0, "a"), (5, 0, "b"), (9, 0, "c")]


CROWD = [(0, 0, "a"), (3, 0, "b"), (5, 0, "c")]
PENDING = [(0, 2, "a"), (1, 3, "b")]  # a is pending for 2 ms
AT_ONCE = [(0, 4, "a"), (0, 4, "b"), (0, 4, "c")]


@pytest.mark.parametrize(
    ("policy", "script", "expected"),
    [
        pytest.param(None, CROWD, [(0, 1, "a"), (10, 0, "b"), (20, 0, "c")], id="defer is the default"),
        pytest.param("defer", CROWD, [(0, 1, "a"), (10, 0, "b"), (20, 0, "c")], id="defer moves an event"),
        pytest.param("drop", [*CROWD, (10, 0, "d")], [(0, 1, "a"), (10, 1, "d")], id="drop forgets it"),
        pytest.param("replace", PENDING, [(2, 0, "b")], id="replace gives the pending event the new value"),
        pytest.param("replace", CROWD, [(0, 1, "a"), (10, 0, "c")], id="replace defers where none is pending"),
        pytest.param("update", PENDING, [(4, 0, "b")], id="update puts the new event in place of the pending one"),
        pytest.param("update", CROWD[:2], [(0, 1, "a"), (10, 0, "b")], id="update defers where none is pending"),
        pytest.param("defer", AT_ONCE, [(4, 0, "a"), (14, 0, "b"), (24, 0, "c")], id="defer within a reaction"),
        pytest.param("drop", AT_ONCE, [(4, 0, "a")], id="drop within a reaction"),
        pytest.param("replace", AT_ONCE, [(4, 0, "c")], id="replace within a reaction"),
    ],
)
def test_a_policy_settles_events_that_are_too_close(execute: Execute, policy, script, expected) -> None:
    assert arrivals(execute, script, spacing=10, policy=policy) == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_spacing_leaves_alone_what_is_far_enough_apart(execute: Execute, policy: str) -> None:
    script = [(0, 0, "a"), (10, 0, "b"), (25, 0, "c")]
    assert arrivals(execute, script, spacing=10, policy=policy) == [(0, 1, "a"), (10, 1, "b"), (25, 1, "c")]


def test_spacing_counts_from_the_tag_of_the_event_and_not_of_the_call(execute: Execute) -> None:
    assert arrivals(execute, [(0, 0, "a"), (1, 0, "b")], min_delay=7, spacing=10) == [(7, 0, "a"), (17, 0, "b")]


def test_update_keeps_the_spacing_from_the_event_before_the_pending_one(execute: Execute) -> None:
    script = [(0, 0, "a"), (1, 9, "b"), (2, 0, "c")]  # c would stand 2 ms after a
    assert arrivals(execute, script, spacing=5, policy="update") == [(0, 1, "a"), (5, 0, "c")]
    script = [(0, 5, "a"), (0, 20, "b"), (1, 5, "c")]  # c would stand 1 ms after a, which is pending as well
    assert arrivals(execute, script, spacing=3, policy="update") == [(5, 0, "a"), (8, 0, "c")]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_two_events_are_closer_than_the_spacing(execute: Execute, policy: str) -> None:
    script = [(at, extra, f"{at}+{extra}") for at in range(30) for extra in (3, 0)]
    times = [at for at, *_ in arrivals(execute, script, spacing=2, policy=policy)]
    assert len(times) > 5
    assert min(after - before for before, after in pairwise(times)) >= 2


ONE_TAG = [(0, 2, "a"), (0, 2, "b"), (1, 1, "c"), (3, 0, "d"), (3, 0, "e")]  # three for 2 ms, two for 3 ms
BEFORE = [(0, 5, "a"), (1, 2, "b")]  # b for 3 ms, which is before the pending a


@pytest.mark.parametrize(
    ("policy", "of_one_tag", "in_order"),
    [
        ("defer", [(2, 0, "a"), (2, 1, "b"), (2, 2, "c"), (3, 1, "d"), (3, 2, "e")], [(5, 0, "a"), (5, 1, "b")]),
        ("drop", [(2, 0, "a"), (3, 1, "d")], [(5, 0, "a")]),
        ("replace", [(2, 0, "c"), (3, 1, "e")], [(5, 0, "b")]),
        ("update", [(2, 0, "c"), (3, 1, "e")], [(3, 0, "b")]),
        (None, [(2, 0, "a"), (2, 1, "b"), (2, 2, "c"), (3, 1, "d"), (3, 2, "e")], [(5, 0, "a"), (5, 1, "b")]),
    ],
)
def test_a_spacing_of_zero_settles_events_of_one_tag_and_keeps_their_order(
    execute: Execute, policy: str | None, of_one_tag: list[Any], in_order: list[Any]
) -> None:
    assert arrivals(execute, ONE_TAG, spacing=0, policy=policy) == of_one_tag
    assert arrivals(execute, BEFORE, spacing=0, policy=policy) == in_order


def test_without_a_spacing_events_may_overtake_each_other(execute: Execute) -> None:
    assert arrivals(execute, BEFORE) == [(3, 0, "b"), (5, 0, "a")]


def test_a_spacing_of_zero_lets_the_next_microstep_pass(execute: Execute) -> None:
    class Looping(Reactor):
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

    assert written(execute(Looping), "Looping.seen") == [(0, 1, 3), (0, 2, 0)]

"""Modes in time: when a switch acts, what it suspends, resumes or forgets, and when modes start and end."""

import pytest

from reactorlib import (
    MSEC,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    Timer,
    history,
    reaction,
    reset,
    shutdown,
    startup,
)
from tests.reactorlib.conformance.modal import Modal, Script, Switch, local
from tests.reactorlib.observing import Execute, reactions, values


class Timers(Modal):
    with Modal.one:
        a = Timer(offset=4 * MSEC, period=8 * MSEC)

        @reaction(a)
        def in_one(self, a): ...

    with Modal.two:
        b = Timer(offset=0, period=3 * MSEC)

        @reaction(b)
        def in_two(self, b): ...


def test_only_the_initial_mode_is_active_at_first(execute: Execute) -> None:
    result = execute(Timers, script={}, timeout=21 * MSEC)
    assert local(result, "in_one", "in_two") == [(4, 0, "in_one"), (12, 0, "in_one"), (20, 0, "in_one")]


def test_switch_acts_at_the_end_of_the_tag_and_the_new_mode_at_the_next_microstep(execute: Execute) -> None:
    assert local(execute(Switch, timeout=5 * MSEC), "before", "still_one", "in_two", "always", "entered") == [
        (0, 0, "before"),
        (0, 0, "still_one"),
        (0, 0, "always"),
        (0, 1, "entered"),
        (5, 0, "in_two"),
        (5, 0, "always"),
    ]


def test_reset_restarts_timers(execute: Execute) -> None:
    result = execute(Timers, script={0: "reset two", 1: "reset one"}, timeout=34 * MSEC)
    assert local(result, "in_one", "in_two") == [
        (4, 0, "in_one"),
        (10, 1, "in_two"),  # offset 0: at once
        (13, 0, "in_two"),
        (16, 0, "in_two"),
        (19, 0, "in_two"),
        (24, 0, "in_one"),
        (32, 0, "in_one"),
    ]


def test_history_resumes_timers_with_the_remaining_delays(execute: Execute) -> None:
    script = {0: "history two", 1: "history one", 2: "history two"}
    result = execute(Timers, script=script, timeout=36 * MSEC)
    assert local(result, "in_one", "in_two") == [
        (4, 0, "in_one"),  # the next one, at 12 ms, is 2 ms away when the mode is left
        (10, 1, "in_two"),
        (13, 0, "in_two"),
        (16, 0, "in_two"),
        (19, 0, "in_two"),  # the next one is 2 ms away
        (22, 0, "in_one"),
        (30, 0, "in_one"),
        (32, 0, "in_two"),
        (35, 0, "in_two"),
    ]


def test_switch_to_the_same_mode_by_history_changes_nothing(execute: Execute) -> None:
    result = execute(Timers, script={0: "history one"}, timeout=21 * MSEC)
    assert local(result, "in_one") == [(4, 0, "in_one"), (12, 0, "in_one"), (20, 0, "in_one")]


def test_switch_to_the_same_mode_by_reset_begins_it_anew(execute: Execute) -> None:
    result = execute(Timers, script={0: "reset one"}, timeout=23 * MSEC)
    assert local(result, "in_one") == [(4, 0, "in_one"), (14, 0, "in_one"), (22, 0, "in_one")]


class Actions(Modal):
    with Modal.one:

        @reaction("go", effects=["act", "quick"])
        def plan(self, go, act, quick):
            if self.now == 0:
                act.schedule(value="planned")
                quick.schedule(value="planned")

        act = LogicalAction[str](min_delay=5 * MSEC)
        quick = LogicalAction[str]()

        @reaction(act)
        def happens(self, act): ...

        @reaction(quick)
        def happens_soon(self, quick): ...

    with Modal.two:

        @reaction(startup)
        def in_two(self): ...


def test_history_resumes_actions_with_the_remaining_delays(execute: Execute) -> None:
    result = execute(Actions, script={0: "history two", 2: "history one"}, timeout=60 * MSEC)
    assert local(result, "happens", "happens_soon") == [(30, 1, "happens_soon"), (35, 0, "happens")]


def test_reset_drops_pending_actions(execute: Execute) -> None:
    result = execute(Actions, script={0: "history two", 2: "reset one"}, timeout=60 * MSEC)
    assert local(result, "happens", "happens_soon") == []
    result = execute(Actions, script={0: "reset one"}, timeout=60 * MSEC)  # also when the mode stays
    assert local(result, "happens", "happens_soon") == []


class Spaced(Modal):
    """An action with minimum spacing, scheduled in its mode at every tick."""

    with Modal.one:
        act = LogicalAction[int](min_delay=2 * MSEC, min_spacing=25 * MSEC, policy="replace")

        @reaction("go", effects=act)
        def plan(self, go, act):
            act.schedule(value=self.now)

        @reaction(act)
        def happens(self, act): ...


def test_reset_forgets_the_minimum_spacing(execute: Execute) -> None:
    result = execute(Spaced, script={}, timeout=50 * MSEC)
    assert local(result, "happens") == [(12, 0, "happens"), (37, 0, "happens")]
    result = execute(Spaced, script={1: "reset one"}, timeout=40 * MSEC)  # drops what was deferred to 37 ms
    assert local(result, "happens") == [(12, 0, "happens"), (32, 0, "happens")]


def test_history_suspends_the_minimum_spacing(execute: Execute) -> None:
    script = {0: "history two", 2: "history one"}  # 12 ms becomes 32 ms
    result = execute(Spaced, script=script, timeout=60 * MSEC)
    assert local(result, "happens") == [(32, 0, "happens"), (57, 0, "happens")]


class SpacedFromOutside(Modal):
    """Actions of a mode that is not active are scheduled three times at once, from outside the modes."""

    last = Output[int]()

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script)

    with Modal.two:
        kept = LogicalAction[int](min_spacing=8 * MSEC)
        dropped = LogicalAction[int](min_spacing=8 * MSEC, policy="drop")
        replaced = LogicalAction[int](min_spacing=8 * MSEC, policy="replace")

        @reaction(kept)
        def happens(self, kept): ...

        @reaction(dropped)
        def happens_once(self, dropped): ...

        @reaction(replaced, effects="last")
        def happens_last(self, replaced, last):
            last.set(replaced.value)

    @reaction(startup, effects=[kept, dropped, replaced])
    def plan(self, kept, dropped, replaced):
        for value in range(3):
            for action in (kept, dropped, replaced):
                action.schedule(value=value)


@pytest.mark.parametrize("entry", ["history", "reset"])
def test_minimum_spacing_holds_for_what_is_scheduled_while_the_mode_is_not_active(execute: Execute, entry: str) -> None:
    result = execute(SpacedFromOutside, script={0: f"{entry} two"}, timeout=40 * MSEC)
    happened = local(result, "happens", "happens_once", "happens_last")
    if entry == "reset":
        assert happened == []
    else:
        assert happened == [
            (10, 1, "happens"),
            (10, 1, "happens_once"),
            (10, 1, "happens_last"),
            (18, 0, "happens"),
            (26, 0, "happens"),
        ]
        assert values(result, "SpacedFromOutside.last") == [2]


class SpacedWhilePending(Modal):
    """Two events of one spaced action are on their way when the mode is left, 10 ms before it is resumed."""

    other = Timer(offset="other")

    def __init__(self, script: Script, begin: int = 10 * MSEC, other: int = 0):
        super().__init__(script)

    with Modal.one:
        early = Timer(offset=5 * MSEC)
        act = LogicalAction[str](min_delay=10 * MSEC, min_spacing=8 * MSEC)

        @reaction(early, effects=act)
        def plan(self, early, act):
            act.schedule(value="a")  # due at 15 ms, then at 25 ms
            act.schedule(value="b")  # due at 23 ms, then at 33 ms

        @reaction(act, effects=act)
        def happens(self, act):
            if act.value == "a":
                act.schedule(value="c")  # wants 35 ms; 8 ms after b is 41 ms

    @reaction(other)
    def elsewhere(self, other): ...


@pytest.mark.parametrize("other", [1, 15, 23, 33, 41])
def test_history_suspends_the_spacing_of_pending_events(execute: Execute, other: int) -> None:
    """Whatever else happens at the times of the suspended events."""
    script = {0: "history two", 1: "history one"}
    result = execute(SpacedWhilePending, script=script, other=other * MSEC, timeout=60 * MSEC)
    assert local(result, "happens") == [(25, 0, "happens"), (33, 0, "happens"), (41, 0, "happens")]


class Outside(Modal):
    """An action outside the modes goes on in logical time; whoever is active then reacts to it."""

    act = LogicalAction(min_delay=15 * MSEC)

    @reaction("go", effects=act)
    def plan(self, go, act):
        if self.now == 0:
            act.schedule()

    with Modal.one:

        @reaction(act)
        def in_one(self, act): ...

    with Modal.two:

        @reaction(act)
        def in_two(self, act): ...


def test_events_outside_the_modes_are_not_suspended(execute: Execute) -> None:
    result = execute(Outside, script={0: "history two"}, timeout=60 * MSEC)
    assert local(result, "in_one", "in_two") == [(25, 0, "in_two")]
    result = execute(Outside, script={0: "reset two"}, timeout=60 * MSEC)
    assert local(result, "in_one", "in_two") == [(25, 0, "in_two")]


class Lifecycle(Modal):
    """Startup, shutdown and reset in both modes."""

    with Modal.one:

        @reaction(startup)
        def start_one(self): ...

        @reaction(reset)
        def reset_one(self): ...

        @reaction(shutdown)
        def end_one(self): ...

    with Modal.two:

        @reaction(startup)
        def start_two(self): ...

        @reaction(reset)
        def reset_two(self): ...

        @reaction(shutdown)
        def end_two(self): ...


LIFE = ("start_one", "start_two", "reset_one", "reset_two", "end_one", "end_two")


def test_startup_runs_at_the_first_activation_only_and_reset_at_each_reset_entry(execute: Execute) -> None:
    script = {0: "reset two", 1: "reset one", 2: "history two", 3: "reset one"}
    assert local(execute(Lifecycle, script=script, timeout=45 * MSEC), *LIFE) == [
        (0, 0, "start_one"),
        (10, 1, "start_two"),
        (10, 1, "reset_two"),
        (20, 1, "reset_one"),
        (40, 1, "reset_one"),
        (45, 0, "end_one"),
        (45, 0, "end_two"),
    ]


def test_first_activation_by_history_is_startup_without_reset(execute: Execute) -> None:
    assert local(execute(Lifecycle, script={0: "history two"}, timeout=15 * MSEC), *LIFE) == [
        (0, 0, "start_one"),
        (10, 1, "start_two"),
        (15, 0, "end_one"),
        (15, 0, "end_two"),
    ]


def test_shutdown_runs_only_for_modes_that_were_active(execute: Execute) -> None:
    assert local(execute(Lifecycle, script={}, timeout=15 * MSEC), *LIFE) == [
        (0, 0, "start_one"),
        (15, 0, "end_one"),
    ]


def test_mode_switched_to_at_the_last_tag_is_never_active(execute: Execute) -> None:
    assert local(execute(Lifecycle, script={0: "reset two"}, timeout=10 * MSEC), *LIFE) == [
        (0, 0, "start_one"),
        (10, 0, "end_one"),
    ]


class Rivals(Reactor):
    one, two, three = Mode(initial=True), Mode(), Mode()
    go = Timer(offset=0)

    @reaction(go, effects=reset(two))
    def first(self, go, two):
        two.set()

    @reaction(go, effects=reset(three))
    def second(self, go, three):
        three.set()

    with two:

        @reaction(reset)
        def in_two(self): ...

    with three:

        @reaction(reset)
        def in_three(self): ...


def test_last_switch_of_a_tag_wins(execute: Execute) -> None:
    assert local(execute(Rivals), "in_two", "in_three") == [(0, 1, "in_three")]


class ResetAnywhere(Reactor):
    """Reactors that do not ask whether they lie in a mode: reset triggers a reaction of theirs."""

    def __init__(self, script: Script):
        self.outside = Resetting()
        self.modal = AroundResetting(script)


class Resetting(Reactor):
    tick = Timer(offset=0, period=10 * MSEC)

    @reaction(reset)
    def alone(self): ...

    @reaction(reset, tick)
    def either(self, tick): ...


class AroundResetting(Modal):
    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script, begin)
        with self.two:
            self.inside = Resetting()


def test_reset_outside_of_modes_never_triggers(execute: Execute) -> None:
    result = execute(ResetAnywhere, script={0: "reset two"}, timeout=20 * MSEC)
    assert [step for step in reactions(result) if "side" in step[2]] == [
        (0, 0, "ResetAnywhere.outside.either"),
        (10 * MSEC, 0, "ResetAnywhere.outside.either"),
        (10 * MSEC, 1, "ResetAnywhere.modal.inside.alone"),
        (10 * MSEC, 1, "ResetAnywhere.modal.inside.either"),
        (20 * MSEC, 0, "ResetAnywhere.outside.either"),
        (20 * MSEC, 0, "ResetAnywhere.modal.inside.either"),
    ]


class Left(Reactor):
    one = Mode(initial=True)
    two = Mode()
    go = Timer(offset=1 * MSEC)

    with one:
        far = Timer(offset=50 * MSEC, period=1 * MSEC)

        @reaction(far)
        def never(self, far): ...

    @reaction(go, effects=history(two))
    def leave(self, go, two):
        two.set()


def test_suspended_events_do_not_keep_a_program_running(execute: Execute) -> None:
    assert execute(Left, timeout=100 * MSEC).tag.time == 1 * MSEC

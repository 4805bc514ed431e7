"""Modes in time: when a switch acts, what it suspends, resumes or forgets, and when modes start and end."""

import pytest

from reactorlib import (
    MSEC,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    history,
    reaction,
    reset,
    shutdown,
    startup,
)
from reactorlib.worker import coordinator
from tests.reactorlib.conformance.modal import Modal, Script, entering
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.conformance.test_physical_actions import Scripted
from tests.reactorlib.observing import Execute, reactions, story, values


def test_switch_acts_at_the_end_of_the_tag_and_the_new_mode_at_the_next_microstep(execute: Execute) -> None:
    class Switch(Reactor):
        one, two = Mode(initial=True), Mode()
        tick = Timer(offset=0, period=5 * MSEC)

        with one:
            before, still_one = entering(tick, reset(two)), noted(tick)

        with two:
            in_two, entered = noted(tick), noted(reset)

        always = noted(tick)

    told = story(execute(Switch, timeout=5 * MSEC), "before", "still_one", "in_two", "always", "entered")
    assert told == "0 before, 0 still_one, 0 always, 0+1 entered, 5 in_two, 5 always"


class Timers(Modal):
    with Modal.one:
        a = Timer(offset=4 * MSEC, period=8 * MSEC)
        in_one = noted(a)

    with Modal.two:
        b = Timer(offset=0, period=3 * MSEC)
        in_two = noted(b)


TO_TWO = "4 in_one, 10+1 in_two, 13 in_two, 16 in_two, 19 in_two"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param({}, "4 in_one, 12 in_one, 20 in_one, 28 in_one", id="only the initial mode is active at first"),
        pytest.param({0: "reset two", 1: "reset one"}, f"{TO_TWO}, 24 in_one, 32 in_one", id="reset restarts"),
        pytest.param(
            {0: "history two", 1: "history one", 2: "history two"},  # a is 2 ms away at 10 ms, b at 20 ms
            f"{TO_TWO}, 22 in_one, 30 in_one, 32 in_two, 35 in_two",
            id="history resumes with the remaining delays",
        ),
        pytest.param({0: "history one"}, "4 in_one, 12 in_one, 20 in_one, 28 in_one", id="history to the same mode"),
        pytest.param({0: "reset one"}, "4 in_one, 14 in_one, 22 in_one, 30 in_one", id="reset of the same mode"),
    ],
)
def test_timers_are_suspended_resumed_by_history_and_restarted_by_reset(execute: Execute, script, expected) -> None:
    assert story(execute(Timers, script=script, timeout=35 * MSEC), "in_one", "in_two") == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param({0: "history two", 2: "history one"}, "30+1 soon, 35 happens", id="history resumes"),
        pytest.param({0: "history two", 2: "reset one"}, "", id="reset drops"),
        pytest.param({0: "reset one"}, "", id="reset drops, also when the mode stays"),
    ],
)
def test_pending_actions_are_resumed_by_history_and_dropped_by_reset(execute: Execute, script, expected) -> None:
    class Actions(Modal):
        with Modal.one:

            @reaction("go", effects=["act", "quick"])
            def plan(self, go, act, quick):
                if self.now == 0:
                    act.schedule(value="planned")
                    quick.schedule(value="planned")

            act, quick = LogicalAction[str](min_delay=5 * MSEC), LogicalAction[str]()
            happens, soon = noted(act), noted(quick)

    assert story(execute(Actions, script=script, timeout=60 * MSEC), "happens", "soon") == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ({}, "12 happens, 37 happens"),
        ({1: "reset one"}, "12 happens, 32 happens, 57 happens"),  # drops what was deferred to 37 ms
        ({0: "history two", 2: "history one"}, "32 happens, 57 happens"),  # 12 ms becomes 32 ms
    ],
)
def test_minimum_spacing_is_forgotten_by_reset_and_suspended_by_history(execute: Execute, script, expected) -> None:
    class Spaced(Modal):
        with Modal.one:
            act = LogicalAction[int](min_delay=2 * MSEC, min_spacing=25 * MSEC, policy="replace")
            happens = noted(act)

            @reaction("go", effects=act)
            def plan(self, go, act):
                act.schedule(value=self.now)

    assert story(execute(Spaced, script=script, timeout=60 * MSEC), "happens") == expected


@pytest.mark.parametrize(
    ("entry", "expected", "last"),
    [("history", "10+1 happens, 10+1 once, 10+1 latest, 18 happens, 26 happens", [2]), ("reset", "", [])],
)
def test_minimum_spacing_holds_for_what_is_scheduled_while_the_mode_is_not_active(
    execute: Execute, entry: str, expected: str, last: list[int]
) -> None:
    class SpacedFromOutside(Modal):
        last = Output[int]()

        with Modal.two:
            kept = LogicalAction[int](min_spacing=8 * MSEC)
            dropped = LogicalAction[int](min_spacing=8 * MSEC, policy="drop")
            replaced = LogicalAction[int](min_spacing=8 * MSEC, policy="replace")
            happens, once = noted(kept), noted(dropped)

            @reaction(replaced, effects="last")
            def latest(self, replaced, last):
                last.set(replaced.value)

        @reaction(startup, effects=[kept, dropped, replaced])
        def plan(self, kept, dropped, replaced):
            for value in range(3):
                for action in (kept, dropped, replaced):
                    action.schedule(value=value)

    result = execute(SpacedFromOutside, script={0: f"{entry} two"}, timeout=40 * MSEC)
    assert story(result, "happens", "once", "latest") == expected
    assert values(result, "SpacedFromOutside.last") == last


@pytest.mark.parametrize(
    ("entry", "delay", "expected"),
    [("history", 0, "10+1 happens"), ("history", 2, "12 happens"), ("reset", 0, "")],
)
def test_a_physical_action_of_a_mode_that_is_not_active_keeps_its_delay(
    execute: Execute, monkeypatch: pytest.MonkeyPatch, entry: str, delay: int, expected: str
) -> None:
    """The physical time between the last tag and the call does not count."""
    clock = Scripted()
    monkeypatch.setattr(coordinator, "PhysicalClock", lambda: clock)

    class Held(Modal):
        with Modal.two:
            act = PhysicalAction(min_delay=delay * MSEC)
            happens = noted(act)

        @reaction(startup, effects=act)
        def plan(self, act):
            clock.time += 3 * MSEC
            act.schedule()

    assert story(execute(Held, script={0: f"{entry} two"}, timeout=20 * MSEC), "happens") == expected


@pytest.mark.parametrize("other", [1, 15, 23, 33, 41])
def test_history_suspends_the_spacing_of_pending_events(execute: Execute, other: int) -> None:
    """Other events at the times of the suspended events change nothing."""

    class SpacedWhilePending(Modal):
        """Two events of one spaced action are on their way when the mode is left, 10 ms before it is resumed."""

        other = Timer(offset="other")
        elsewhere = noted(other)

        def __init__(self, script: Script, other: int):
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

    script = {0: "history two", 1: "history one"}
    result = execute(SpacedWhilePending, script=script, other=other * MSEC, timeout=60 * MSEC)
    assert story(result, "happens") == "25 happens, 33 happens, 41 happens"


@pytest.mark.parametrize("entry", ["history", "reset"])
def test_events_outside_the_modes_are_not_suspended(execute: Execute, entry: str) -> None:
    class Outside(Modal):
        act = LogicalAction(min_delay=15 * MSEC)

        @reaction("go", effects=act)
        def plan(self, go, act):
            if self.now == 0:
                act.schedule()

        with Modal.one:
            in_one = noted(act)

        with Modal.two:
            in_two = noted(act)

    result = execute(Outside, script={0: f"{entry} two"}, timeout=60 * MSEC)
    assert story(result, "in_one", "in_two") == "25 in_two"


class Lifecycle(Modal):
    with Modal.one:
        start_one, reset_one, end_one = noted(startup), noted(reset), noted(shutdown)

    with Modal.two:
        start_two, reset_two, end_two = noted(startup), noted(reset), noted(shutdown)


LIFE = ("start_one", "start_two", "reset_one", "reset_two", "end_one", "end_two")


@pytest.mark.parametrize(
    ("script", "timeout", "expected"),
    [
        pytest.param(
            {0: "reset two", 1: "reset one", 2: "history two", 3: "reset one"},
            45,
            "0 start_one, 10+1 start_two, 10+1 reset_two, 20+1 reset_one, 40+1 reset_one, 45 end_one, 45 end_two",
            id="reset at each entry by reset",
        ),
        pytest.param({0: "history two"}, 15, "0 start_one, 10+1 start_two, 15 end_one, 15 end_two", id="history"),
        pytest.param({}, 15, "0 start_one, 15 end_one", id="a mode that is never active"),
        pytest.param({0: "reset two"}, 10, "0 start_one, 10 end_one", id="a mode switched to at the last tag"),
    ],
)
def test_startup_runs_at_the_first_activation_and_shutdown_for_modes_that_were_active(
    execute: Execute, script: Script, timeout: int, expected: str
) -> None:
    assert story(execute(Lifecycle, script=script, timeout=timeout * MSEC), *LIFE) == expected


def test_shutdown_reactions_of_all_modes_run_in_class_order(execute: Execute) -> None:
    class Closing(Modal):
        last = Output[str]()

        with Modal.one:
            a = Timer(offset=0)
            in_one = noted(a)

            @reaction(shutdown, effects=last)
            def end_one(self, last):
                last.set("one")

        with Modal.two:
            b = Timer(offset=5 * MSEC)
            in_two = noted(b)

            @reaction(shutdown, effects=last)
            def end_two(self, last):
                last.set("two")

    result = execute(Closing, script={0: "reset two"}, timeout=15 * MSEC)
    assert story(result, "end_one", "in_two", "end_two") == "15 end_one, 15 in_two, 15 end_two"
    assert values(result, "Closing.last") == ["one", "two"]


def test_last_switch_of_a_tag_wins(execute: Execute) -> None:
    class Rivals(Reactor):
        one, two, three = Mode(initial=True), Mode(), Mode()
        go = Timer(offset=0)

        first = entering(go, reset(two))
        second = entering(go, reset(three))

        with two:
            in_two = noted(reset)

        with three:
            in_three = noted(reset)

    assert story(execute(Rivals), "in_two", "in_three") == "0+1 in_three"


def test_reset_triggers_within_modes_only(execute: Execute) -> None:
    class Resetting(Reactor):
        tick = Timer(offset=0, period=10 * MSEC)
        alone, either = noted(reset), noted(reset, tick)

    class Around(Modal):
        def __init__(self, script: Script):
            super().__init__(script)
            with self.two:
                self.inside = Resetting()

    class ResetAnywhere(Reactor):
        def __init__(self, script: Script):
            self.outside, self.modal = Resetting(), Around(script)

    result = execute(ResetAnywhere, script={0: "reset two"}, timeout=20 * MSEC)
    told = story(result, "alone", "either")
    assert told == "0 either, 10 either, 10+1 alone, 10+1 either, 20 either, 20 either"
    assert [path for *_, path in reactions(result) if path.endswith("alone")] == ["ResetAnywhere.modal.inside.alone"]


def test_suspended_events_do_not_keep_a_program_running(execute: Execute) -> None:
    class Left(Reactor):
        one, two = Mode(initial=True), Mode()
        go = Timer(offset=1 * MSEC)

        with one:
            far = Timer(offset=50 * MSEC, period=1 * MSEC)
            never = noted(far)

        leave = entering(go, history(two))

    assert execute(Left, timeout=100 * MSEC).tag.time == 1 * MSEC

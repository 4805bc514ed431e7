"""Row "mode". Every program has a timer `go` outside its modes, and a script that says where to go at which tick."""

import threading
from itertools import count, product
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    ElaborationError,
    Input,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    State,
    Timer,
    connect,
    elaborate,
    history,
    reaction,
    reset,
    run,
    shutdown,
    startup,
)
from tests.reactorlib.observing import Execute, reactions, values, written

Script = dict[int, str]  # tick number, counted from 0 -> mode to enter


class Modal(Reactor):
    """Two modes with a timer each; switches by reset or by history, as the script says."""

    one = Mode(initial=True)
    two = Mode()
    go = Timer(offset="begin", period=10 * MSEC)

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        self.script = script
        self.now = -1

    @reaction(go, effects=[reset(one), reset(two)])
    def by_reset(self, go, one, two):
        self.now += 1
        target = self.script.get(self.now)
        if target == "reset one":
            one.set()
        elif target == "reset two":
            two.set()

    @reaction(go, effects=[history(one), history(two)])
    def by_history(self, go, one, two):
        target = self.script.get(self.now)
        if target == "history one":
            one.set()
        elif target == "history two":
            two.set()


def local(result: Any, *names: str) -> list[tuple[float, int, str]]:
    """(time in ms, microstep, reaction) of the reactions with these names."""
    steps = [(at / MSEC, microstep, path.rpartition(".")[2]) for at, microstep, path in reactions(result)]
    return [step for step in steps if step[-1] in names]


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


class Switch(Reactor):
    one = Mode(initial=True)
    two = Mode()
    tick = Timer(offset=0, period=5 * MSEC)

    with one:

        @reaction(tick, effects=reset(two))
        def before(self, tick, two):
            two.set()

        @reaction(tick)
        def still_one(self, tick): ...

    with two:

        @reaction(tick)
        def in_two(self, tick): ...

        @reaction(reset)
        def entered(self): ...

    @reaction(tick)
    def always(self, tick): ...


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


class States(Modal):
    plain = State(0)
    out = Output[tuple]()

    with Modal.one:
        again = State(0, reset=True)

        @reaction("go", effects=out)
        def count(self, go, out):
            self.plain += 1
            self.again += 1
            out.set((self.plain, self.again))


def test_reset_reinitialises_reset_state_only(execute: Execute) -> None:
    result = execute(States, script={1: "reset two", 2: "reset one"}, timeout=50 * MSEC)
    assert written(result, "States.out") == [
        (10 * MSEC, 0, (1, 1)),
        (20 * MSEC, 0, (2, 2)),
        (40 * MSEC, 0, (3, 1)),
        (50 * MSEC, 0, (4, 2)),
    ]


def test_history_keeps_reset_state(execute: Execute) -> None:
    result = execute(States, script={1: "history two", 2: "history one"}, timeout=40 * MSEC)
    assert values(result, "States.out") == [(1, 1), (2, 2), (3, 3)]


serials = count()


class Restored(Modal):
    """Reset states as the constructor leaves them: from parameters, changed in place, made by a callable."""

    with Modal.one:
        tell = State[Any](None, reset=True)
        count = State(0, reset=True)
        items = State[list](list, reset=True)
        serial = State(serials.__next__, reset=True)
        guard = State[Any](threading.Lock, reset=True)
        kept = State[list](list)

    out = Output[tuple]()

    def __init__(self, script: Script, start: int, begin: int = 10 * MSEC):
        super().__init__(script)
        self.count = start
        self.items.append([start])
        self.first_serial = self.serial
        self.first_guard = self.guard
        self.kept.append(start)
        self.tell = self.describe

    def describe(self) -> tuple[Any, ...]:
        same = self.serial == self.first_serial, self.guard is self.first_guard
        return (self.count, [*map(tuple, self.items)], len(self.kept), *same)

    with Modal.one:

        @reaction("go", effects=out)
        def change(self, go, out):
            out.set(self.tell())
            self.count += 1
            self.items[0].append(self.count)
            self.items.append([])
            self.kept.append(self.count)


class RestoredInside(Modal):
    """Reset states of a contained reactor."""

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script, begin)
        with self.one:
            self.inside = Bank(Counting, 2, first=7)


class Counting(Reactor):
    tick = Timer(offset=0, period=5 * MSEC)
    count = State(0, reset=True)
    history = State[list](list, reset=True)
    out = Output[list]()

    def __init__(self, first: int):
        self.count = first + self.bank_index
        self.history += [self.count]

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        self.history.append(self.count)
        out.set([*self.history])


def test_reset_restores_what_the_constructor_left(execute: Execute) -> None:
    script = {1: "reset one", 3: "history one", 4: "reset one"}
    result = execute(Restored, script=script, start=5, timeout=60 * MSEC)
    assert values(result, "Restored.out") == [
        (5, [(5,)], 1, True, True),
        (6, [(5, 6), ()], 2, True, True),
        (5, [(5,)], 3, True, False),
        (6, [(5, 6), ()], 4, True, False),
        (7, [(5, 6, 7), (), ()], 5, True, False),
        (5, [(5,)], 6, True, False),
    ]


def test_reset_restores_what_the_constructors_of_contained_reactors_left(execute: Execute) -> None:
    result = execute(RestoredInside, script={0: "reset one", 1: "reset two", 2: "reset one"}, timeout=36 * MSEC)
    for index in range(2):
        first = 7 + index
        once = [first, first + 1]
        twice = [*once, first + 2]
        assert values(result, f"RestoredInside.inside[{index}].out") == [
            *(once, twice, [*twice, first + 3]),  # at 10 ms before it is reset
            *(once, twice, [*twice, first + 3]),
            *(once, twice),
        ]


class Unrestorable(Modal):
    lock = State[Any](None, reset=True)

    with Modal.one:
        inside = State[Any](None, reset=True)

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script)
        self.lock = self.inside = threading.Lock()


def test_a_reset_state_that_cannot_be_copied_is_named() -> None:
    with pytest.raises(ElaborationError, match=r"Unrestorable.inside: a reset restores a copy of .* cannot pickle"):
        elaborate(Unrestorable, script={})


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


class Child(Reactor):
    """Contained in a mode: all of it lives on the mode's time."""

    tick = Timer(offset=1 * MSEC, period=6 * MSEC)
    count = State(0, reset=True)
    kept = State(0)
    out = Output[tuple]()

    @reaction(startup)
    def begin(self): ...

    @reaction(reset)
    def again(self): ...

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        self.kept += 1
        out.set((self.count, self.kept))

    @reaction(shutdown)
    def end(self): ...


class Containing(Modal):
    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script)
        with self.one:
            self.child = Child()
        with self.two:
            self.never = Child()


def test_contained_reactor_is_suspended_and_resumed_with_its_mode(execute: Execute) -> None:
    result = execute(Containing, script={0: "history two", 2: "history one"}, timeout=38 * MSEC)
    assert written(result, "Containing.child.out") == [
        (1 * MSEC, 0, (1, 1)),
        (7 * MSEC, 0, (2, 2)),
        (33 * MSEC, 0, (3, 3)),  # 13 ms was 3 ms away
    ]
    assert written(result, "Containing.never.out") == [
        (11 * MSEC, 0, (1, 1)),
        (17 * MSEC, 0, (2, 2)),
        (23 * MSEC, 0, (3, 3)),
        (29 * MSEC, 0, (4, 4)),
    ]


def test_contained_reactor_begins_anew_with_a_reset(execute: Execute) -> None:
    result = execute(Containing, script={0: "reset two", 1: "reset one"}, timeout=27 * MSEC)
    assert written(result, "Containing.child.out") == [
        (1 * MSEC, 0, (1, 1)),
        (7 * MSEC, 0, (2, 2)),
        (21 * MSEC, 0, (1, 3)),
        (27 * MSEC, 0, (2, 4)),
    ]
    assert [step for step in reactions(result) if step[2].rpartition(".")[2] in ("begin", "again", "end")] == [
        (0, 0, "Containing.child.begin"),
        (10 * MSEC, 1, "Containing.never.begin"),
        (10 * MSEC, 1, "Containing.never.again"),
        (20 * MSEC, 1, "Containing.child.again"),
        (27 * MSEC, 0, "Containing.child.end"),
        (27 * MSEC, 0, "Containing.never.end"),
    ]


def test_contained_reactor_of_a_mode_never_active_neither_starts_nor_ends(execute: Execute) -> None:
    result = execute(Containing, script={}, timeout=5 * MSEC)
    assert [step[2] for step in reactions(result) if "never" in step[2]] == []


class Farewell(Reactor):
    out = Output[list]()

    @reaction(shutdown, effects=out)
    def end(self, out):
        out.set([1])


class Heir(Reactor):
    same = Input[list]()
    copied = Input[list](mutable=True)
    seen = Output[tuple]()

    @reaction(shutdown, uses=[same, copied], effects=seen)
    def end(self, same, copied, seen):
        seen.set((same.is_present, copied.is_present))


class Family(Reactor):
    def __init__(self):
        self.farewell, self.heir = Farewell(), Heir()
        connect(self.farewell.out, self.heir.same)
        connect(self.farewell.out, self.heir.copied)


class Bequest(Modal):
    """The same reactors twice in a mode: connected by a reactor around them, and by the mode itself."""

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script)
        with self.one:
            self.family = Family()
            self.farewell, self.heir = Farewell(), Heir()
            connect(self.farewell.out, self.heir.same)
            connect(self.farewell.out, self.heir.copied)


@pytest.mark.parametrize("script", [{}, {0: "history two"}], ids=["active", "left"])
def test_shutdown_of_a_mode_that_was_left_uses_the_connections_of_its_reactors_but_not_its_own(
    execute: Execute, script: Script
) -> None:
    result = execute(Bequest, script=script, timeout=15 * MSEC)
    assert values(result, "Bequest.family.heir.seen") == [(True, True)]
    assert values(result, "Bequest.heir.seen") == [(not script, not script)]


class Source(Reactor):
    tick = Timer(offset=0, period=4 * MSEC)
    out = Output[int]()

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        out.set(self.count)


class Sink(Reactor):
    inp = Input[int]()
    tick = Timer(offset=0, period=4 * MSEC)
    seen = Output[tuple]()

    @reaction(inp, tick, effects=seen)
    def hear(self, inp, tick, seen):
        seen.set((inp.is_present, inp.value))


class Wiring(Modal):
    """Two sources drive one input, each in its mode."""

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script)
        self.left, self.right, self.sink = Source(), Source(), Sink()
        with self.one:
            connect(self.left.out, self.sink.inp)

        with self.two:
            connect(self.right.out, self.sink.inp, after=3 * MSEC)


def test_connection_carries_values_only_while_its_mode_is_active(execute: Execute) -> None:
    result = execute(Wiring, script={0: "history two"}, timeout=19 * MSEC)
    assert [(at / MSEC, value) for at, _, value in written(result, "Wiring.sink.seen")] == [
        (0, (True, 1)),
        (4, (True, 2)),
        (8, (True, 3)),
        (12, (False, 3)),
        (15, (True, 4)),
        (16, (False, 4)),
        (19, (True, 5)),
    ]


def test_history_resumes_values_in_flight_with_the_remaining_delay(execute: Execute) -> None:
    script = {0: "history two", 1: "history one", 2: "history two"}
    result = execute(Wiring, script=script, timeout=39 * MSEC)
    arrived = [(at / MSEC, value) for at, _, (present, value) in written(result, "Wiring.sink.seen") if present]
    assert arrived == [
        *((0, 1), (4, 2), (8, 3)),
        *((15, 4), (19, 5)),  # the value sent at 20 ms is on its way when the mode is left
        *((24, 7), (28, 8)),
        *((33, 6), (35, 9), (39, 10)),
    ]


def test_reset_drops_values_in_flight(execute: Execute) -> None:
    script = {0: "reset two", 1: "history one", 2: "reset two"}
    result = execute(Wiring, script=script, timeout=36 * MSEC)
    arrived = [(at / MSEC, value) for at, _, (present, value) in written(result, "Wiring.sink.seen") if present]
    assert arrived == [*((0, 1), (4, 2), (8, 3)), *((15, 4), (19, 5)), *((24, 7), (28, 8)), (35, 9)]


class Feeding(Modal):
    """An output is fed by a connection in one mode, by two reactions in the other."""

    fed = Output[int]()
    tick = Timer(offset=0, period=4 * MSEC)

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script, begin)
        self.source = Source()
        with self.one:
            connect(self.source.out, self.fed)

    with Modal.two:

        @reaction("tick", effects="fed")
        def feed(self, tick, fed):
            fed.set(-self.now)

        @reaction("tick", effects="fed")
        def feed_sometimes(self, tick, fed):
            if self.now % 2:
                fed.set(-10 * self.now)


class Fed(Reactor):
    """Readers of the port, one of which changes its own copy and looks at it at other tags, too."""

    def __init__(self, script: Script):
        self.feeding = Feeding(script)
        self.sinks = Bank(Sink, 2)
        self.changing = Changing()
        connect(self.feeding.fed, self.sinks.inp)
        connect(self.feeding.fed, self.changing.inp)


class Changing(Reactor):
    inp = Input[int](mutable=True)
    tick = Timer(offset=1 * MSEC, period=4 * MSEC)
    seen = Output[tuple]()

    @reaction(inp, tick, effects=seen)
    def hear(self, inp, tick, seen):
        seen.set((inp.is_present, inp.value))


FED = {0: "history two", 1: "history one", 2: "reset two"}


def test_a_connection_in_one_mode_and_reactions_in_another_feed_a_port(execute: Execute) -> None:
    result = execute(Fed, script=FED, timeout=36 * MSEC)
    expected = [(0, 1), (4, 2), (8, 3), (12, 0), (16, 0), (20, -10), (24, 7), (28, 8), (32, -2), (36, -2)]
    for sink in ("sinks[0]", "sinks[1]"):
        seen = written(result, f"Fed.{sink}.seen")
        assert [(at / MSEC, value) for at, _, (present, value) in seen if present] == expected
    seen = written(result, "Fed.changing.seen")
    assert [(at / MSEC, value) for at, _, (present, value) in seen if present] == expected
    assert [value for at, _, (present, value) in seen if not present] == [1, 2, 3, 0, 0, -10, 7, 8, -2]


PLACED = ("Fed.feeding", "Fed.feeding.source", "Fed.sinks[0]", "Fed.sinks[1]", "Fed.changing")


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("workers", [2, 3])
def test_what_feeds_a_port_in_turns_reaches_every_worker(executor: str, workers: int) -> None:
    expected = run(Fed, script=FED, timeout=36 * MSEC, fast=True, trace=True).digest
    everywhere = list(product(range(workers), repeat=len(PLACED)))
    for places in everywhere[:: max(1, len(everywhere) // 16)]:
        placement = dict(zip(PLACED, places, strict=True))
        result = run(Fed, script=FED, timeout=36 * MSEC, fast=True, trace=True,
                     executor=executor, workers=workers, placement=placement)  # fmt: skip
        assert result.digest == expected, placement


class FedAtTheEnd(Feeding):
    with Modal.two:

        @reaction("tick", shutdown, effects="fed")
        def feed(self, tick, fed): ...


class FedInOneMode(Feeding):
    with Modal.one:

        @reaction("tick", effects="fed")
        def feed(self, tick, fed): ...


class FedInAnyMode(Feeding):
    @reaction("tick", effects="fed")
    def feed(self, tick, fed): ...


@pytest.mark.parametrize(
    ("main", "why"),
    [(FedAtTheEnd, ", which shutdown triggers in whatever mode"), (FedInOneMode, ""), (FedInAnyMode, "")],
)
def test_a_reaction_that_may_run_beside_a_connection_is_a_second_source(main: type[Reactor], why: str) -> None:
    with pytest.raises(
        ElaborationError,
        match=rf"fed has two sources: .*source.out .* and the reaction {main.__name__}.feed .*[)]{why}$",
    ):
        elaborate(main, script={})


class Parting(Reactor):
    """Its shutdown reaction sets what is connected in one mode, and read by a reaction in the other."""

    out = Output[int]()

    @reaction(shutdown, effects=out)
    def end(self, out):
        out.set(99)


class FedByParting(Modal):
    fed = Output[int]()

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script, begin)
        self.parting, self.other = Parting(), Parting()
        with self.one:
            connect(self.parting.out, self.fed)

    with Modal.two:

        @reaction("other.out", effects="fed")
        def feed(self, out, fed):
            fed.set(-out.value)


class FedToTheEnd(Reactor):
    def __init__(self, script: Script):
        self.feeding, self.sink = FedByParting(script), Sink()
        connect(self.feeding.fed, self.sink.inp)


@pytest.mark.parametrize(("script", "last"), [({}, 99), ({0: "history two"}, -99)])
def test_only_the_source_of_the_active_mode_feeds_a_port_at_shutdown(
    execute: Execute, script: Script, last: int
) -> None:
    result = execute(FedToTheEnd, script=script, timeout=20 * MSEC)
    assert written(result, "FedToTheEnd.sink.seen")[-1] == (20 * MSEC, 0, (True, last))


class Inner(Modal):
    """Modal itself, with timers in both of its modes."""

    with Modal.one:
        a = Timer(offset=0, period=4 * MSEC)

        @reaction(a)
        def inner_one(self, a): ...

    with Modal.two:
        b = Timer(offset=1 * MSEC, period=4 * MSEC)

        @reaction(b)
        def inner_two(self, b): ...


class Nested(Modal):
    def __init__(self, script: Script, inner: Script, begin: int = 10 * MSEC):
        super().__init__(script)
        with self.one:
            self.inner = Inner(inner, begin=5 * MSEC)


def test_history_keeps_the_mode_of_a_nested_reactor(execute: Execute) -> None:
    script = {0: "history two", 1: "history one"}
    result = execute(Nested, script=script, inner={0: "history two"}, timeout=26 * MSEC)
    assert local(result, "inner_one", "inner_two") == [
        (0, 0, "inner_one"),
        (4, 0, "inner_one"),
        (6, 0, "inner_two"),
        (10, 0, "inner_two"),
        (24, 0, "inner_two"),
    ]


def test_reset_returns_a_nested_reactor_to_its_initial_mode(execute: Execute) -> None:
    script = {0: "history two", 1: "reset one"}
    result = execute(Nested, script=script, inner={0: "history two"}, timeout=26 * MSEC)
    assert local(result, "inner_one", "inner_two") == [
        (0, 0, "inner_one"),
        (4, 0, "inner_one"),
        (6, 0, "inner_two"),
        (10, 0, "inner_two"),
        (20, 1, "inner_one"),
        (24, 0, "inner_one"),
    ]


class Adder(Reactor):
    inp = Input[int]()
    inp2 = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def add(self, inp, out):
        out.set(inp.value + 1)

    @reaction(inp2)
    def hear(self, inp2): ...


class Cycle(Reactor):
    """`back` stands before `forth` in class order but reads what it leads to: only exclusive modes allow that."""

    ready = Mode(initial=True)
    waiting = Mode()
    go = Timer(offset=0, period=5 * MSEC)

    def __init__(self):
        self.adder = Adder()

    with waiting:

        @reaction("adder.out", "go", effects=history(ready))
        def back(self, out, go, ready):
            ready.set()

    with ready:

        @reaction(go, effects=["adder.inp", history(waiting)])
        def forth(self, go, inp, waiting):
            inp.set(1)
            waiting.set()


def test_reactions_in_exclusive_modes_may_close_a_cycle(execute: Execute) -> None:
    assert reactions(execute(Cycle, timeout=10 * MSEC)) == [
        (0, 0, "Cycle.forth"),
        (0, 0, "Cycle.adder.add"),
        (5 * MSEC, 0, "Cycle.back"),
        (10 * MSEC, 0, "Cycle.forth"),
        (10 * MSEC, 0, "Cycle.adder.add"),
    ]


class Echo(Reactor):
    """What one mode's reaction sets, the other mode's reads."""

    a_in, b_in = Input[int](), Input[int]()
    a_out, b_out = Output[int](), Output[int]()
    tick = Timer(offset=0, period=1 * MSEC)
    turn = Timer(offset=1 * MSEC, period=2 * MSEC)
    one, two = Mode(initial=True), Mode()

    with one:

        @reaction(tick, a_in, effects=b_out)
        def a_to_b(self, tick, a_in, b_out):
            b_out.set(10 * a_in.is_present)

        @reaction(turn, effects=history(two))
        def to_two(self, turn, two):
            two.set()

    with two:

        @reaction(tick, b_in, effects=a_out)
        def b_to_a(self, tick, b_in, a_out):
            a_out.set(20 * b_in.is_present)

        @reaction(turn, effects=history(one))
        def to_one(self, turn, one):
            one.set()


class RunsAtTheEnd(Echo):
    """At shutdown, when the other mode may be active, this one's reaction runs as well."""

    with Echo.one:

        @reaction(Echo.tick, Echo.a_in, shutdown, effects=Echo.b_out)
        def a_to_b(self, tick, a_in, b_out): ...


class ThirdVoice(Echo):
    """In the second mode a later reaction sets what an earlier one reads."""

    with Echo.two:

        @reaction(Echo.tick, effects=Echo.b_out)
        def third(self, tick, b_out): ...


class Ring(Reactor):
    def __init__(self, echo: type[Reactor] = Echo):
        self.echo: Any = echo()
        connect(self.echo.b_out, self.echo.b_in)
        connect(self.echo.a_out, self.echo.a_in)


def test_reactions_in_exclusive_modes_may_be_connected_in_a_ring(execute: Execute) -> None:
    result = execute(Ring, timeout=4 * MSEC)
    assert local(result, "a_to_b", "b_to_a") == [
        *((0, 0, "a_to_b"), (1, 0, "a_to_b")),
        *((2, 0, "b_to_a"), (3, 0, "b_to_a")),
        (4, 0, "a_to_b"),
    ]
    assert {*values(result, "Ring.echo.a_out"), *values(result, "Ring.echo.b_out")} == {0}


@pytest.mark.parametrize("echo", [RunsAtTheEnd, ThirdVoice])
def test_reactions_that_may_run_at_one_tag_close_no_cycle(echo: type[Reactor]) -> None:
    with pytest.raises(ElaborationError, match="causality cycle"):
        elaborate(Ring, echo=echo)


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


class HalfEcho(Reactor):
    """A ring like that of Echo, one half of which is a connection."""

    a_in, b_in = Input[int](), Input[int]()
    a_out, b_out = Output[int](), Output[int]()
    tick = Timer(offset=0, period=1 * MSEC)
    turn = Timer(offset=1 * MSEC, period=2 * MSEC)
    one, two = Mode(initial=True), Mode()

    def __init__(self):
        with self.one:
            connect(self.a_in, self.b_out)

    @reaction(turn, effects=[history(one), history(two)])
    def switch(self, turn, one, two):
        two.set()

    with two:

        @reaction(tick, b_in, effects=a_out)
        def b_to_a(self, tick, b_in, a_out):
            a_out.set(20 * b_in.is_present)


def test_a_connection_and_a_reaction_in_exclusive_modes_may_form_a_ring(execute: Execute) -> None:
    result = execute(Ring, echo=HalfEcho, timeout=3 * MSEC)
    assert local(result, "b_to_a") == [(2, 0, "b_to_a"), (3, 0, "b_to_a")]
    assert values(result, "Ring.echo.a_out") == [0, 0]


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


class Leaf(Reactor): ...


class Nesting(Reactor):
    one, two = Mode(initial=True), Mode()

    def __init__(self) -> None:
        with self.one, self.two:
            self.leaf = Leaf()


class Foreign(Reactor):
    def __init__(self) -> None:
        self.modal = Switch()
        with self.modal.two:
            self.leaf = Leaf()


@pytest.mark.parametrize(
    ("main", "words"),
    [(Nesting, "modes of one reactor do not nest"), (Foreign, "only the constructor of Switch can put .* mode two")],
)
def test_a_constructor_puts_things_into_one_mode_of_its_own_reactor(main: type[Reactor], words: str) -> None:
    with pytest.raises(ElaborationError, match=words):
        elaborate(main)


class Innermost(Reactor):
    one = Mode(initial=True)
    told = Output[int]()

    with one:

        @reaction(reset, effects=told)
        def tell(self, told):
            told.set(1)


class Between(Reactor):
    """Its mode `two` is not current when the mode around it is entered by a reset; it is entered by history, later."""

    one, two = Mode(initial=True), Mode()
    go = Timer(offset=1 * MSEC)

    def __init__(self) -> None:
        with self.one:
            self.first = Innermost()
        with self.two:
            self.second = Innermost()

    with one:

        @reaction(go, effects=history(two))
        def on(self, go, two):
            two.set()


class Outermost(Reactor):
    calm, busy = Mode(initial=True), Mode()
    go = Timer(offset=1 * MSEC)

    def __init__(self) -> None:
        with self.busy:
            self.between = Between()

    @reaction(go, effects=reset(busy))
    def enter(self, go, busy):
        busy.set()


def test_a_mode_within_one_that_the_reset_does_not_enter_is_not_told_of_it_when_it_is_entered_later(
    execute: Execute,
) -> None:
    result = execute(Outermost, timeout=5 * MSEC)
    assert values(result, "Outermost.between.first.told") == [1]
    assert values(result, "Outermost.between.second.told") == []

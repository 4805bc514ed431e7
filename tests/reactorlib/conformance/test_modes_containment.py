"""Modes and the reactors in them: nested modes, contained reactors, their start and their end."""

from typing import Any

import pytest

from reactorlib import (
    MSEC,
    ElaborationError,
    Input,
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
    shutdown,
    startup,
)
from tests.reactorlib.conformance.modal import Modal, Script, Switch, arrived, story
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute, reactions, values


class Child(Reactor):
    """Contained in a mode: all of it lives on the mode's time."""

    tick = Timer(offset=1 * MSEC, period=6 * MSEC)
    count = State(0, reset=True)
    kept = State(0)
    out = Output[tuple]()

    begin, again, end = noted(startup), noted(reset), noted(shutdown)

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        self.kept += 1
        out.set((self.count, self.kept))


class Containing(Modal):
    def __init__(self, script: Script):
        super().__init__(script)
        with self.one:
            self.child = Child()
        with self.two:
            self.never = Child()


def test_contained_reactor_is_suspended_and_resumed_with_its_mode(execute: Execute) -> None:
    result = execute(Containing, script={0: "history two", 2: "history one"}, timeout=38 * MSEC)
    assert arrived(result, "Containing.child.out") == [(1, (1, 1)), (7, (2, 2)), (33, (3, 3))]  # 13 ms was 3 ms away
    assert arrived(result, "Containing.never.out") == [(11, (1, 1)), (17, (2, 2)), (23, (3, 3)), (29, (4, 4))]


def test_contained_reactor_begins_anew_with_a_reset(execute: Execute) -> None:
    result = execute(Containing, script={0: "reset two", 1: "reset one"}, timeout=27 * MSEC)
    assert arrived(result, "Containing.child.out") == [(1, (1, 1)), (7, (2, 2)), (21, (1, 3)), (27, (2, 4))]
    assert story(result, "begin", "again", "end") == "0 begin, 10+1 begin, 10+1 again, 20+1 again, 27 end, 27 end"


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


def bequeath(main: Any) -> None:
    main.farewell, main.heir = Farewell(), Heir()
    connect(main.farewell.out, main.heir.same)
    connect(main.farewell.out, main.heir.copied)


class Family(Reactor):
    def __init__(self):
        bequeath(self)


class Bequest(Modal):
    """The same reactors twice in a mode: connected by a reactor around them, and by the mode itself."""

    def __init__(self, script: Script):
        super().__init__(script)
        with self.one:
            self.family = Family()
            bequeath(self)


@pytest.mark.parametrize("script", [{}, {0: "history two"}], ids=["active", "left"])
def test_shutdown_of_a_mode_that_was_left_uses_the_connections_of_its_reactors_but_not_its_own(
    execute: Execute, script: Script
) -> None:
    result = execute(Bequest, script=script, timeout=15 * MSEC)
    assert values(result, "Bequest.family.heir.seen") == [(True, True)]
    assert values(result, "Bequest.heir.seen") == [(not script, not script)]


class Inner(Modal):
    """Modal itself, with timers in both of its modes."""

    go = Timer(offset=5 * MSEC, period=10 * MSEC)

    with Modal.one:
        a = Timer(offset=0, period=4 * MSEC)
        inner_one = noted(a)

    with Modal.two:
        b = Timer(offset=1 * MSEC, period=4 * MSEC)
        inner_two = noted(b)


class Nested(Modal):
    def __init__(self, script: Script, inner: Script):
        super().__init__(script)
        with self.one:
            self.inner = Inner(inner)


BEFORE = "0 inner_one, 4 inner_one, 6 inner_two, 10 inner_two"


@pytest.mark.parametrize(("entry", "rest"), [("history", "24 inner_two"), ("reset", "20+1 inner_one, 24 inner_one")])
def test_history_keeps_the_mode_of_a_nested_reactor_and_reset_enters_its_initial_one(execute, entry, rest) -> None:
    script = {0: "history two", 1: f"{entry} one"}
    result = execute(Nested, script=script, inner={0: "history two"}, timeout=26 * MSEC)
    assert story(result, "inner_one", "inner_two") == f"{BEFORE}, {rest}"


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

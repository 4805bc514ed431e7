"""The contents of modes: states that a reset restores, reactors that start and end with a mode, nested modes."""

import threading
from itertools import count
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
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
from tests.reactorlib.conformance.modal import Modal, Parting, Script, entering
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute, arrived, reactions, story, values


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("reset", [(10, (1, 1)), (20, (2, 2)), (40, (3, 1)), (50, (4, 2))]),
        ("history", [(10, (1, 1)), (20, (2, 2)), (40, (3, 3)), (50, (4, 4))]),
    ],
)
def test_reset_reinitialises_reset_state_only_and_history_keeps_it(execute: Execute, entry: str, expected) -> None:
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

    result = execute(States, script={1: f"{entry} two", 2: f"{entry} one"}, timeout=50 * MSEC)
    assert arrived(result, "States.out") == expected


serials = count()


class Restored(Modal):
    """Reset states as the constructor leaves them: from parameters, changed in place, made by a callable."""

    with Modal.one:
        tell, count = State[Any](None, reset=True), State(0, reset=True)
        items = State[list](list, reset=True)
        serial = State(serials.__next__, reset=True)
        guard, kept = State[Any](threading.Lock, reset=True), State[list](list)

    out = Output[tuple]()

    def __init__(self, script: Script, start: int):
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
    def __init__(self, script: Script):
        super().__init__(script)
        with self.one:
            self.inside = Bank(Counting, 2, first=7)


class Counting(Reactor):
    tick = Timer(offset=0, period=5 * MSEC)
    count, history = State(0, reset=True), State[list](list, reset=True)
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


def test_a_reset_state_that_cannot_be_copied_is_named() -> None:
    class Unrestorable(Modal):
        lock = State[Any](None, reset=True)

        with Modal.one:
            inside = State[Any](None, reset=True)

        def __init__(self, script: Script):
            super().__init__(script)
            self.lock = self.inside = threading.Lock()

    with pytest.raises(ElaborationError, match=r"Unrestorable.inside: a reset restores a copy of .* cannot pickle"):
        elaborate(Unrestorable, script={})


class Child(Reactor):
    tick = Timer(offset=1 * MSEC, period=6 * MSEC)
    count, kept = State(0, reset=True), State(0)
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


class Heir(Reactor):
    same, copied, seen = Input[list](), Input[list](mutable=True), Output[tuple]()

    @reaction(shutdown, uses=[same, copied], effects=seen)
    def end(self, same, copied, seen):
        seen.set((same.is_present, copied.is_present))


def bequeath(main: Any) -> None:
    main.farewell, main.heir = Parting([1]), Heir()
    connect(main.farewell.out, main.heir.same)
    connect(main.farewell.out, main.heir.copied)


@pytest.mark.parametrize("script", [{}, {0: "history two"}], ids=["active", "left"])
def test_shutdown_of_a_mode_that_was_left_uses_the_connections_of_its_reactors_but_not_its_own(
    execute: Execute, script: Script
) -> None:
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

    result = execute(Bequest, script=script, timeout=15 * MSEC)
    assert values(result, "Bequest.family.heir.seen") == [(True, True)]
    assert values(result, "Bequest.heir.seen") == [(not script, not script)]


class Inner(Modal):
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


class Nesting(Reactor):
    one, two = Mode(initial=True), Mode()

    def __init__(self) -> None:
        with self.one, self.two:
            self.leaf = Child()


class Foreign(Reactor):
    def __init__(self) -> None:
        self.modal = Modal({})
        with self.modal.two:
            self.leaf = Child()


@pytest.mark.parametrize(
    ("main", "words"),
    [(Nesting, "modes of one reactor do not nest"), (Foreign, "only the constructor of Modal can put .* mode two")],
)
def test_a_constructor_puts_things_into_one_mode_of_its_own_reactor(main: type[Reactor], words: str) -> None:
    with pytest.raises(ElaborationError, match=words):
        elaborate(main)


def test_a_reset_is_not_reported_to_a_mode_within_that_is_entered_later(execute: Execute) -> None:
    class Innermost(Reactor):
        one = Mode(initial=True)

        with one:
            tell = noted(reset)

    class Between(Reactor):
        """Its mode `two` is not current when the mode around it is reset. Later it is entered by history."""

        one, two = Mode(initial=True), Mode()
        go = Timer(offset=1 * MSEC)

        def __init__(self) -> None:
            with self.one:
                self.first = Innermost()
            with self.two:
                self.second = Innermost()

        with one:
            on = entering(go, history(two))

    class Outermost(Reactor):
        calm, busy = Mode(initial=True), Mode()
        go = Timer(offset=1 * MSEC)

        def __init__(self) -> None:
            with self.busy:
                self.between = Between()

        enter = entering(go, reset(busy))

    result = execute(Outermost, timeout=5 * MSEC)
    assert [path for *_, path in reactions(result) if "tell" in path] == ["Outermost.between.first.tell"]

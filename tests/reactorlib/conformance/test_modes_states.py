"""Modes and state: what a reset gives back its first value, and what history keeps."""

import threading
from itertools import count
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    ElaborationError,
    Output,
    Reactor,
    State,
    Timer,
    elaborate,
    reaction,
)
from tests.reactorlib.conformance.modal import Modal, Script, arrived
from tests.reactorlib.observing import Execute, values


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


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("reset", [(10, (1, 1)), (20, (2, 2)), (40, (3, 1)), (50, (4, 2))]),
        ("history", [(10, (1, 1)), (20, (2, 2)), (40, (3, 3)), (50, (4, 4))]),
    ],
)
def test_reset_reinitialises_reset_state_only_and_history_keeps_it(execute: Execute, entry: str, expected) -> None:
    result = execute(States, script={1: f"{entry} two", 2: f"{entry} one"}, timeout=50 * MSEC)
    assert arrived(result, "States.out") == expected


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
    """Reset states of a contained reactor."""

    def __init__(self, script: Script):
        super().__init__(script)
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

    def __init__(self, script: Script):
        super().__init__(script)
        self.lock = self.inside = threading.Lock()


def test_a_reset_state_that_cannot_be_copied_is_named() -> None:
    with pytest.raises(ElaborationError, match=r"Unrestorable.inside: a reset restores a copy of .* cannot pickle"):
        elaborate(Unrestorable, script={})

"""Exploration names two reactions that share state, whatever ties them, and accuses no clean program."""

import random
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest

from reactorlib import (
    MSEC,
    Bank,
    Input,
    Output,
    Reactor,
    RunError,
    Timer,
    WorkerError,
    connect,
    elaborate,
    reaction,
    shutdown,
    startup,
)
from reactorlib.exploration import explore
from tests.reactorlib.conformance.sessions import Farm

ORDERS = 12


class Asks(Reactor):
    """Sets what a function returns."""

    out = Output[Any]()

    def __init__(self, ask: Callable[[], Any]) -> None:
        self.ask = ask

    @reaction(startup, effects=out)
    def act(self, out: Any) -> None:
        out.set(self.ask())


class Quiet(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def act(self, out: Any) -> None:
        out.set(1)


class Tidy(Reactor):
    """Removes the file of the functions, if they have one: a file outlives a run."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    @reaction(shutdown)
    def end(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


class Two(Reactor):
    """Two reactors that ask two functions, among others that share nothing."""

    def __init__(self, make: Callable[[], tuple[Callable[[], Any], Callable[[], Any]]]) -> None:
        one, other = make()
        self.quiet = Bank(Quiet, 3)
        self.one, self.other = Asks(one), Asks(other)
        self.last = Bank(Quiet, 3)
        path = getattr(other, "__self__", None)
        self.tidy = Tidy(path if isinstance(path, Path) else None)


class Shared:
    number = 0
    numbers: ClassVar[list[int]] = []


MODULE: list[int] = []


def same(act: Callable[[], Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return act, act


def of_module() -> int:
    MODULE.append(1)
    return len(MODULE)


def of_class() -> int:
    Shared.number += 1
    return Shared.number


def of_list_of_class() -> int:
    Shared.numbers.append(1)
    return len(Shared.numbers)


def of_default(seen: list[int] = []) -> int:  # noqa: B006  the fault that is looked for
    seen.append(1)
    return len(seen)


def of_attribute() -> int:
    of_attribute.calls = getattr(of_attribute, "calls", 0) + 1  # type: ignore[attr-defined]
    return of_attribute.calls  # type: ignore[attr-defined,no-any-return]


@cache
def of_cache() -> list[int]:
    return []


def closure() -> tuple[Callable[[], Any], Callable[[], Any]]:
    left = [3, 4, 5]
    return left.pop, left.pop


def iterator() -> tuple[Callable[[], Any], Callable[[], Any]]:
    numbers = count()
    return same(lambda: next(numbers))


def generator() -> tuple[Callable[[], Any], Callable[[], Any]]:
    return same(random.Random(1).random)


def file() -> tuple[Callable[[], Any], Callable[[], Any]]:
    path = Path(tempfile.mkdtemp()) / "shared"
    return (lambda: path.write_text("written")), path.exists


def environment() -> tuple[Callable[[], Any], Callable[[], Any]]:
    import os

    return (lambda: os.environ.setdefault("REACTORLIB_SHARED", "one")), lambda: os.environ.get("REACTORLIB_SHARED")


def grown() -> int:
    of_cache().append(1)
    return len(of_cache())


KINDS: dict[str, Callable[[], Any]] = {
    "a list of the module": lambda: same(of_module),
    "a number of a class": lambda: same(of_class),
    "a list of a class": lambda: same(of_list_of_class),
    "a default argument": lambda: same(of_default),
    "an attribute of a function": lambda: same(of_attribute),
    "a cached object": lambda: same(grown),
    "a closure": closure,
    "an iterator": iterator,
    "a generator of random numbers": generator,
    "the module random": lambda: same(random.random),
    "a file": file,
    "the environment": environment,
}


@pytest.mark.parametrize("kind", KINDS)
def test_two_reactions_that_share_state_are_named(kind: str) -> None:
    found = explore(Two, make=KINDS[kind], seeds=ORDERS)
    assert not found.same
    assert found.reactions == ("Two.one.act", "Two.other.act")
    assert "share state" in str(found)
    assert "sets other values at tag (0 ns, 0)" in found.differs


def test_a_clean_program_is_not_accused() -> None:
    found = explore(Farm, seeds=ORDERS, timeout=2 * MSEC)
    assert found
    assert str(found) == f"{ORDERS} orders of independent reactions, one result"


class Late(Reactor):
    """Takes a number from a list that all share, when its timer fires."""

    tick, out = Timer(1 * MSEC, 1 * MSEC), Output[int]()

    @reaction(tick, effects=out)
    def take(self, tick: Any, out: Any) -> None:
        MODULE.append(1)
        out.set(len(MODULE))


class Adds(Reactor):
    inp, out = Input[int](width=2), Output[int]()

    @reaction(inp, effects=out)
    def add(self, inp: Any, out: Any) -> None:
        out.set(sum(channel.value for channel in inp))


class Sum(Reactor):
    """Nobody but the two at the source is at fault, and the sum is the same."""

    def __init__(self) -> None:
        self.late, self.adds = Bank(Late, 2), Adds()
        connect(self.late.out, self.adds.inp)


def test_the_two_are_found_at_a_later_tag_before_others_that_follow() -> None:
    found = explore(elaborate(Sum), seeds=ORDERS, timeout=2 * MSEC)
    assert found.reactions == ("Sum.late[0].take", "Sum.late[1].take")
    assert found.differs == "Sum.late[0].take sets other values at tag (1000000 ns, 0)"


def test_a_program_that_differs_from_itself_is_said_to() -> None:
    found = explore(Two, make=lambda: same(random.SystemRandom().random), seeds=ORDERS)
    assert not found
    assert not found.reactions
    assert "depends on more than its inputs" in str(found)


def fail() -> None:
    raise ValueError("no")


def test_a_program_that_fails_shows_nothing() -> None:
    with pytest.raises(RunError, match=r"fails in its own order.*Two\.one\.act raised ValueError"):
        explore(Two, make=lambda: same(fail), seeds=ORDERS)


def test_a_run_that_does_not_end_is_ended() -> None:
    with pytest.raises(WorkerError, match=r"did not end within 0\.5 s: give a timeout"):
        explore(Late, limit_s=0.5)


def test_a_process_that_dies_is_an_error() -> None:
    import os

    with pytest.raises(WorkerError, match="died"):
        explore(Two, make=lambda: same(lambda: os._exit(3)))


def test_nothing_of_the_runs_is_left_in_this_process(capfd: pytest.CaptureFixture[str]) -> None:
    explore(Two, make=lambda: same(lambda: print("loud") or of_module()), seeds=2)
    assert not MODULE
    assert capfd.readouterr() == ("", "")

"""Workers that share a processor part where another one is idle; no other moves, and none is bound to where it goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from reactorlib.transport import processors, waiting
from tests.reactorlib.scripts import python

Moves = list[set[int]]


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> Moves:
    """Record each set of processors that this thread is bound to. It may run on processors 0 to 3."""
    found: Moves = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _thread: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda _thread, allowed: found.append(set(allowed)), raising=False)
    return found


def on(monkeypatch: pytest.MonkeyPatch, mine: int | None, theirs: dict[int, int | None]) -> None:
    monkeypatch.setattr(processors, "_processor_of", {"thread-self": mine, **theirs}.get)


def left(monkeypatch: pytest.MonkeyPatch, fellows: Iterable[int], busy: Iterable[int] = ()) -> bool:
    """Whether the second of two looks moves the worker; all processors but the busy ones are idle between them."""
    watch = processors.ProcessorWatch()
    idle = [dict.fromkeys(range(4), 1_000), {at: 1_000 if at in busy else 1_010 for at in range(4)}]
    monkeypatch.setattr(processors, "_idle_ticks", lambda: idle.pop(0))
    monkeypatch.setattr(processors, "_TICK_NS", 10**7)
    first = watch.leave(fellows, 0)
    assert not first  # nothing is known yet
    return watch.leave(fellows, 10**8)


def test_who_shares_a_processor_goes_where_no_fellow_is_and_may_go_anywhere_again(
    monkeypatch: pytest.MonkeyPatch, moves: Moves
) -> None:
    on(monkeypatch, 1, {70: 1, 71: 2})
    assert left(monkeypatch, (70, 71))
    assert moves == [{0, 3}, {0, 1, 2, 3}]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [(1, {70: 0, 71: 2}), (1, {}), (None, {70: None}), (1, {70: None}), (0, {70: 0, 71: 1, 72: 2, 73: 3})],
    ids=["apart", "alone", "nothing is known", "the fellow has ended", "nothing is free"],
)
def test_nobody_else_moves(
    monkeypatch: pytest.MonkeyPatch, moves: Moves, mine: int | None, theirs: dict[int, int | None]
) -> None:
    on(monkeypatch, mine, theirs)
    assert not left(monkeypatch, theirs)
    assert moves == []


@pytest.mark.parametrize(("busy", "moved"), [((0,), [{3}, {0, 1, 2, 3}]), ((0, 3), [])])
def test_where_other_programs_run_nobody_goes(
    monkeypatch: pytest.MonkeyPatch, moves: Moves, busy: tuple[int, ...], moved: Moves
) -> None:
    on(monkeypatch, 1, {70: 1, 71: 2})
    left(monkeypatch, (70, 71), busy)
    assert moves == moved


@pytest.mark.parametrize(
    ("second_ns", "third_ns", "asked"),
    [
        pytest.param(processors.LOOK_NS - 1, processors.LOOK_NS, 2, id="the second too soon"),
        pytest.param(processors.OLD_NS + 1, processors.OLD_NS + 1 + processors.LOOK_NS, 3, id="the first too old"),
    ],
)
def test_two_looks_too_close_or_too_far_apart_say_nothing_of_what_is_idle(
    monkeypatch: pytest.MonkeyPatch, moves: Moves, second_ns: int, third_ns: int, asked: int
) -> None:
    on(monkeypatch, 1, {70: 1})
    ticks = iter(range(0, asked * 1_000, 1_000))
    monkeypatch.setattr(processors, "_idle_ticks", lambda: dict.fromkeys(range(4), next(ticks)))
    watch = processors.ProcessorWatch()
    assert [watch.leave((70,), now) for now in (0, second_ns, third_ns)] == [False, False, True]
    assert moves == [{0, 2, 3}, {0, 1, 2, 3}]


def test_processors_that_are_taken_away_meanwhile_are_no_error(monkeypatch: pytest.MonkeyPatch, moves: Moves) -> None:
    def refuse(_thread: int, _allowed: Any) -> None:
        raise OSError(22, "Invalid argument")

    on(monkeypatch, 1, {70: 1})
    monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
    assert not left(monkeypatch, (70,))


def test_a_worker_that_can_part_from_a_fellow_does_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = iter(range(0, 10**12, 10**9))
    monkeypatch.setattr(waiting, "_kept_ns", lambda: next(kept))
    for parts, rests in ((True, False), (False, True)):
        asked = []

        def leave(_self: Any, fellows: Any, _now: int, parts: bool = parts, asked: list[Any] = asked) -> bool:
            asked.append(fellows)
            return parts

        monkeypatch.setattr(waiting.ProcessorWatch, "leave", leave)
        spinner = waiting.Spinner(300_000, lambda: (70,))
        for _ in range(2):  # the first look has nothing to compare with
            spinner.spin(lambda: False, waiting.clock())
        assert asked == [(70,)]
        assert (spinner._rested > 0) is rests


REAL = """
import os, subprocess, sys
from itertools import count
from reactorlib.transport import processors
ticks = count(0, 1_000)
processors._idle_ticks = lambda: dict.fromkeys(range(os.cpu_count()), next(ticks))  # as on a machine at rest
watch, looks = processors.ProcessorWatch(), count(0, processors.LOOK_NS)
allowed = os.sched_getaffinity(0)
fellow = subprocess.Popen([sys.executable, "-c", "while __import__('time').process_time() < 30: pass"])
try:
    moved = False
    for _ in range(1000):  # the fellow comes to where this process is, which the system may move before it looks
        os.sched_setaffinity(fellow.pid, {processors._processor_of("thread-self")})
        if watch.leave([fellow.pid], next(looks)):
            moved = True
            break
    print(moved, os.sched_getaffinity(0) == allowed)
finally:
    fellow.kill()
"""


@pytest.mark.skipif(sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_on_this_machine_they_part() -> None:
    done = python("-c", REAL)
    moved, free = done.stdout.split()
    assert (moved, free) == ("True", "True"), done.stderr

"""Workers that share a processor part where another one is idle; no other moves, and none is bound to where it goes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from reactorlib.transport import waiting
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
    monkeypatch.setattr(waiting, "_processor_of", {"thread-self": mine, **theirs}.get)


def left(monkeypatch: pytest.MonkeyPatch, fellows: Sequence[int], running: int = 2) -> bool:
    """Whether the worker moves where `running` threads of the machine run or are ready to."""
    monkeypatch.setattr(waiting, "_running", lambda: running)
    return waiting.leave_processor(fellows)


def test_who_shares_a_processor_goes_where_no_fellow_is_and_may_go_anywhere_again(
    monkeypatch: pytest.MonkeyPatch, moves: Moves
) -> None:
    on(monkeypatch, 1, {70: 1, 71: 2})
    assert left(monkeypatch, (70, 71), 3)
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
    assert not left(monkeypatch, tuple(theirs))
    assert moves == []


@pytest.mark.parametrize(
    ("running", "moved"), [(3, True), (4, False), (0, False)], ids=["alone", "another runs", "unknown"]
)
def test_a_worker_that_shares_moves_only_where_no_other_program_runs(
    monkeypatch: pytest.MonkeyPatch, moves: Moves, running: int, moved: bool
) -> None:
    on(monkeypatch, 1, {70: 1, 71: 2})
    assert left(monkeypatch, (70, 71), running) is moved
    assert bool(moves) is moved


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

        def leave(fellows: Any, parts: bool = parts, asked: list[Any] = asked) -> bool:
            asked.append(fellows)
            return parts

        monkeypatch.setattr(waiting, "leave_processor", leave)
        spinner = waiting.Spinner(300_000, lambda: (70,))
        for _ in range(2):  # the first look has nothing to compare with
            spinner.spin(lambda: False, waiting.clock())
        assert asked == [(70,), (70,)]
        assert (spinner._rested > 0) is rests


@pytest.mark.parametrize(
    ("fellows", "pause_ns", "asks"),
    [((70,), 0, 1), ((70,), waiting.PAUSE_NS, 2), ((70, 71), waiting.PAUSE_NS, 1), ((70, 71), 2 * waiting.PAUSE_NS, 2)],
)
def test_after_a_pause_a_worker_asks_where_its_fellows_are(
    monkeypatch: pytest.MonkeyPatch, fellows: tuple[int, ...], pause_ns: int, asks: int
) -> None:
    now, asked = [0], []

    def clock() -> int:
        now[0] += 1_000_000
        return now[0]

    monkeypatch.setattr(waiting, "clock", clock)
    monkeypatch.setattr(waiting, "_kept_ns", lambda: 1)
    monkeypatch.setattr(waiting, "leave_processor", asked.append)
    spinner = waiting.Spinner(300_000, lambda: fellows)
    spinner.spin(lambda: False, clock())
    now[0] += pause_ns
    spinner.spin(lambda: False, clock())
    assert asked == [fellows] * asks
    assert spinner._rested == 0


def test_a_thread_that_sleeps_is_on_no_processor() -> None:
    assert waiting._processor_of("thread-self") in os.sched_getaffinity(0)
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        slept = any(waiting._processor_of(sleeper.pid) is None for _ in range(100_000))  # it runs at first
        sleeper.kill()
    assert slept


REAL = """
import os, subprocess, sys
from reactorlib.transport import waiting
print(waiting._running() > 0)
waiting._running = lambda: 2  # as on a machine at rest
allowed = os.sched_getaffinity(0)
fellow = subprocess.Popen([sys.executable, "-c", "while __import__('time').process_time() < 30: pass"])
try:
    moved = False
    for _ in range(1000):  # the fellow comes to where this process is, which the system may move before it looks
        os.sched_setaffinity(fellow.pid, {waiting._processor_of("thread-self")})
        if waiting.leave_processor([fellow.pid]):
            moved = True
            break
    print(moved, os.sched_getaffinity(0) == allowed)
finally:
    fellow.kill()
"""


@pytest.mark.skipif(sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_on_this_machine_they_part() -> None:
    done = python("-c", REAL)
    known, moved, free = done.stdout.split()
    assert (known, moved, free) == ("True", "True", "True"), done.stderr


def test_a_signal_while_it_moves_leaves_the_thread_unbound(monkeypatch: pytest.MonkeyPatch, moves: Moves) -> None:
    def interrupt(_thread: int, allowed: set[int]) -> None:
        moves.append(set(allowed))
        if len(moves) == 1:
            raise KeyboardInterrupt  # its handler runs as soon as the call has returned

    monkeypatch.setattr(os, "sched_setaffinity", interrupt, raising=False)
    on(monkeypatch, 1, {70: 1})
    with pytest.raises(KeyboardInterrupt):
        left(monkeypatch, (70,))
    assert moves == [{0, 2, 3}, {0, 1, 2, 3}]

"""Keeps the workers of a run on a processor each, also where the system put two on one. See docs/kernel.md."""

from __future__ import annotations

import os
from collections.abc import Iterable


def leave(fellows: Iterable[int]) -> bool:
    """Move this thread off a processor that it shares with one of these threads, if another is idle; whether it did."""
    mine, theirs = _processor_of("thread-self"), {_processor_of(thread) for thread in fellows}
    if mine is None or mine not in theirs:
        return False
    allowed = os.sched_getaffinity(0)
    free = allowed - theirs
    # Where no more threads are running or ready than there are processors, and two share one, another one is idle.
    if not free or not 0 < _running() <= len(allowed):
        return False
    try:
        os.sched_setaffinity(0, free)
        os.sched_setaffinity(0, allowed)
    except OSError:  # somebody took processors away meanwhile
        return False
    return True


def _processor_of(thread: int | str) -> int | None:
    """Where it runs, or ran last; None where that cannot be known, or it has ended."""
    try:
        with open(f"/proc/{thread}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as in waiting
            return int(file.read().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None


def _running() -> int:
    """The threads of this machine that run or are ready to; 0 where that cannot be known."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123  # as in waiting
            return int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 0

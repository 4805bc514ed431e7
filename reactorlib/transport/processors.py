"""Keeps the workers of a run on a processor each, also where the system put two on one. See docs/kernel.md."""

from __future__ import annotations

import os
from collections.abc import Sequence


def leave(fellows: Sequence[int]) -> bool:
    """Move this thread off a processor that it shares with a fellow, if no other program runs; whether it did."""
    if not fellows:
        return False
    mine, theirs = _processor_of("thread-self"), [at for at in map(_processor_of, fellows) if at is not None]
    if mine not in theirs:
        return False
    allowed = os.sched_getaffinity(0)
    free = allowed.difference(theirs)
    # Where another program's thread runs or is ready, a processor without a fellow may be that thread's.
    if not free or not 0 < _running() <= 1 + len(theirs):
        return False
    try:
        try:  # a signal's handler may raise after the first call
            os.sched_setaffinity(0, free)
        finally:
            os.sched_setaffinity(0, allowed)
    except OSError:  # somebody took processors away meanwhile
        return False
    return True


def _processor_of(thread: int | str) -> int | None:
    """Where it runs or is ready to; None where it does neither, or nothing is known."""
    try:
        with open(f"/proc/{thread}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as in waiting
            state, *counts = file.read().rpartition(")")[2].split()
            return int(counts[35]) if state == "R" else None
    except (OSError, ValueError, IndexError):
        return None


def _running() -> int:
    """The threads of this machine that run or are ready to; 0 where that cannot be known."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123  # as in waiting
            return int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 0

"""The processors that the workers of a run are on: one each, also where the system put two on one and left them there.

It may: a worker that is woken may start beside the one that wakes it, and from then on one sleeps while the other
works, so that nothing looks overloaded. No worker is bound to a processor: the system is free to move it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable


def leave_fellows(fellows: Iterable[int]) -> bool:
    """Move this thread to a processor on which none of these threads is, where it shares one; whether it did."""
    mine = _processor_of("thread-self")
    if mine is None or not hasattr(os, "sched_setaffinity"):
        return False
    theirs = {_processor_of(thread) for thread in fellows}
    allowed = os.sched_getaffinity(0)
    free = allowed - theirs - {mine}
    if mine not in theirs or not free:
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
        with open(f"/proc/{thread}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as in spinning
            return int(file.read().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None

"""Keeps the workers of a run on a processor each, also where the system put two on one. See docs/kernel.md."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

LOOK_NS, OLD_NS = 50_000_000, 1_000_000_000  # idle time is counted in ticks of 10 ms; an old look says little of now
IDLE = 0.5  # of the time since the last look
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0


class ProcessorWatch:
    """Moves one worker's thread. Remembers when it looked at the processors last, and their idle time then."""

    def __init__(self) -> None:
        self._seen: tuple[int, dict[int, int]] | None = None

    def leave(self, fellows: Iterable[int], now: int) -> bool:
        """Move this thread off a processor that it shares with one of these threads; whether it did."""
        mine, theirs = _processor_of("thread-self"), {_processor_of(thread) for thread in fellows}
        if mine is None or mine not in theirs:
            return False
        allowed = os.sched_getaffinity(0)
        free = (allowed & self._idle(now)) - theirs
        if not free:
            return False
        with suppress(OSError):  # somebody took processors away meanwhile
            os.sched_setaffinity(0, free)
            os.sched_setaffinity(0, allowed)
            return True
        return False

    def _idle(self, now: int) -> set[int]:
        """The processors that were idle since the last look; none where that was too short ago."""
        if self._seen is not None and now - self._seen[0] < LOOK_NS:
            return set()
        last, self._seen = self._seen, (now, _idle_ticks())
        if last is None or now - last[0] > OLD_NS:
            return set()
        least = IDLE * (now - last[0])
        return {at for at, ticks in self._seen[1].items() if (ticks - last[1].get(at, ticks)) * _TICK_NS > least}


def _processor_of(thread: int | str) -> int | None:
    """Where it runs, or ran last; None where that cannot be known, or it has ended."""
    try:
        with open(f"/proc/{thread}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as in waiting
            return int(file.read().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None


def _idle_ticks() -> dict[int, int]:
    """How long each processor has been idle since the system started."""
    try:
        with open("/proc/stat", encoding="ascii") as file:  # noqa: PTH123  # as in waiting
            lines = [line.split() for line in file if line.startswith("cpu") and line[3].isdigit()]
        return {int(name[3:]): int(idle) for name, _, _, _, idle, *_ in lines}
    except (OSError, ValueError):
        return {}

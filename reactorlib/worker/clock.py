"""Physical time, and waiting for it: interruptible from any thread and from a signal handler, never without limit."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

LONGEST_WAIT_NS = 500_000_000  # of one sleep


class PhysicalClock:
    """Nanoseconds since the epoch that never run backwards, and a wait that `wake` ends at once."""

    def __init__(self, offset: int | None = None) -> None:
        # Wall-clock time at the start, then the monotonic clock: setting the wall clock does not bend a run.
        self._offset = time.time_ns() - time.monotonic_ns() if offset is None else offset
        self._woken = threading.Lock()  # free from a wake to the end of the wait that it ends
        self._woken.acquire()

    def __reduce__(self) -> tuple[type[PhysicalClock], tuple[int]]:
        return PhysicalClock, (self._offset,)  # in another process of this machine it reads the same

    def now(self) -> int:
        return time.monotonic_ns() + self._offset

    def wait(self, until: float) -> None:
        """Sleep until physical time `until` (ns), or `wake`, or half a second. The caller then checks again."""
        left = min(until - self.now(), LONGEST_WAIT_NS)
        if left > 0:
            self._woken.acquire(timeout=left / 1e9)

    def wake(self) -> None:
        """End the current wait, or the next one. Safe in threads and signal handlers."""
        with suppress(RuntimeError):  # another wake came first
            self._woken.release()

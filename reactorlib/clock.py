"""Physical time, and waiting for it: interruptible from any thread and from a signal handler, never without limit."""

from __future__ import annotations

import os
import select
import threading
import time
from contextlib import suppress
from io import FileIO

LONGEST_WAIT_NS = 500_000_000  # of one sleep
LONGEST_WAKE_S = 0.5
FD_SETSIZE = 1024  # select takes descriptors below this only


class PhysicalClock:
    """Nanoseconds since the epoch that never run backwards, and a wait that `wake` ends at once."""

    def __init__(self, offset: int | None = None) -> None:
        # Wall-clock time at the start, then the monotonic clock: setting the wall clock does not bend a run.
        self._offset = time.time_ns() - time.monotonic_ns() if offset is None else offset
        reading, writing = os.pipe()
        for end in (reading, writing):
            os.set_blocking(end, False)
        self._reading, self._writing = FileIO(reading, "r"), FileIO(writing, "w")
        self._lock = threading.RLock()  # of the writing end; a signal handler may interrupt its own thread's wake

    def __reduce__(self) -> tuple[type[PhysicalClock], tuple[int]]:
        return PhysicalClock, (self._offset,)  # in another process of this machine it reads the same

    def now(self) -> int:
        return time.monotonic_ns() + self._offset

    def wait(self, until: float) -> None:
        """Sleep until physical time `until` (ns), or `wake`, or half a second. The caller then checks again."""
        left = int(min(until - self.now(), LONGEST_WAIT_NS))
        if left > 0 and self._is_readable(left):
            self._reading.read(4096)  # nothing, if it was spurious

    def _is_readable(self, timeout: int) -> bool:
        if self._reading.fileno() < FD_SETSIZE:
            return bool(select.select([self._reading], [], [], timeout / 1e9)[0])
        poll = select.poll()  # takes any descriptor, but only milliseconds
        poll.register(self._reading, select.POLLIN)
        return bool(poll.poll(timeout / 1e6))

    def wake(self) -> None:
        """End the current wait, or the next one. Safe in threads and signal handlers."""
        # A full pipe wakes just as well. The lock keeps `close` away: the descriptor could soon be another file.
        with self._lock, suppress(ValueError):
            self._writing.write(b"\0")

    def close(self) -> None:
        """Release the descriptors, once nobody uses them. A `wake` that comes later does nothing."""
        held = self._lock.acquire(timeout=LONGEST_WAKE_S)  # in a forked process, a thread that it lacks may hold it
        self._writing.close()  # first, as nobody may write to a pipe without a reader
        self._reading.close()
        if held:
            self._lock.release()

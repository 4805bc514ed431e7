"""Physical time, and waiting for it: interruptible from any thread and from a signal handler, never without limit."""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress
from typing import Protocol

LONGEST_WAIT_NS = 500_000_000  # one sleep; waiting longer is waiting again
FD_SETSIZE = 1024  # select takes descriptors below this only


class Clock(Protocol):
    """What the tag loop needs of time, so that a test can put a scripted clock in its place."""

    def now(self) -> int: ...
    def wait(self, until: int) -> None: ...
    def wake(self) -> None: ...
    def close(self) -> None: ...


class PhysicalClock:
    """Nanoseconds since the epoch that never run backwards, and a wait that `wake` ends at once."""

    def __init__(self, offset: int | None = None) -> None:
        # Wall-clock time at the start, then the monotonic clock: setting the wall clock does not bend a run.
        self._offset = time.time_ns() - time.monotonic_ns() if offset is None else offset
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)
        self._writing.setblocking(False)

    def __reduce__(self) -> tuple[type[PhysicalClock], tuple[int]]:
        return PhysicalClock, (self._offset,)  # in another process of this machine it reads the same

    def now(self) -> int:
        return time.monotonic_ns() + self._offset

    def wait(self, until: int) -> None:
        """Sleep until physical time `until` (ns), or `wake`, or half a second: the caller looks again."""
        left = min(until - self.now(), LONGEST_WAIT_NS)
        if left <= 0:
            return
        if self._is_readable(left):
            with suppress(BlockingIOError):  # spurious: nothing to take
                self._reading.recv(4096)

    def _is_readable(self, timeout: int) -> bool:
        if self._reading.fileno() < FD_SETSIZE:
            return bool(select.select([self._reading], [], [], timeout / 1e9)[0])
        poll = select.poll()  # takes any descriptor, but only milliseconds
        poll.register(self._reading, select.POLLIN)
        return bool(poll.poll(timeout / 1e6))

    def wake(self) -> None:
        """End the current wait, or the next one. Safe in threads and signal handlers: one byte into a socket."""
        # A full socket wakes just as well; a closed one refuses and never reaches a reused descriptor.
        with suppress(OSError):
            self._writing.send(b"\0")

    def close(self) -> None:
        self._reading.close()
        self._writing.close()

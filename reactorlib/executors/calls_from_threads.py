"""Calls of threads that reactions of other processes have started: to stop the run, or to report an error.

Such a thread may call while its worker has no part in a tag for a long time. Worker 0 may be busy or asleep then. So
worker 0 has a thread that listens, once a worker says that its reactions start threads.
"""

from __future__ import annotations

import os
import pickle
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from reactorlib.clock import PhysicalClock
from reactorlib.executors.failure import Failure
from reactorlib.executors.portable_failure import failure_of, told, told_briefly
from reactorlib.worker.inbox import Inbox, Outside

LONGEST_CALL = 1 << 20


class Caller(Outside):
    """Stands for the inbox of the run in a worker process. `announce` asks worker 0 to listen."""

    def __init__(
        self, clock: PhysicalClock, call: Callable[[bytes], Any], announce: Callable[[], object] = int
    ) -> None:
        super().__init__(clock)
        self._announce = announce
        self._call = call
        self._announced = False

    def adopt(self) -> None:
        if not self._announced:
            self._announced = True
            self._announce()

    def stop(self) -> None:
        self._call(pickle.dumps(None))

    def fail(self, thread: str, error: BaseException) -> None:
        if self.over or os.getpid() != self.process:
            return
        failure = Failure(error, None)
        try:
            self._call(pickle.dumps((thread, told(failure))))
        except OSError:  # too long
            self._call(pickle.dumps((thread, told_briefly(failure))))


def pass_on(call: bytes, inbox: Inbox) -> None:
    """Pass a call on to the inbox of the run."""
    failed = pickle.loads(call)
    if failed is None:
        inbox.stop()
    else:
        inbox.fail(failed[0], failure_of(failed[1]).error)


class Listener:
    """Worker 0's end. The descriptors are made before the processes that inherit them."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._reading, self.writing = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._thread: threading.Thread | None = None

    def listen(self) -> None:
        """Start to pass calls on to the inbox, if that has not begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="reactor listener", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while call := self._reading.recv(LONGEST_CALL):
            pass_on(call, self._inbox)

    def close(self) -> None:
        """End the thread, close the descriptors."""
        if self._thread is not None:
            with suppress(OSError):
                self.writing.send(b"")
            if self._thread is not threading.current_thread():  # it may collect garbage
                self._thread.join()
        self._reading.close()
        self.writing.close()

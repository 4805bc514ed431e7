"""The inbox of a run as threads of other worker processes reach it: to stop the run, or to report an error.

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

from reactorlib.executors.failure import Failure, PortableFailure
from reactorlib.worker.clock import PhysicalClock
from reactorlib.worker.inbox import Inbox, RunInterface

LONGEST_CALL = 1 << 17  # bytes; a datagram of Linux holds at most 212,960, unless the system has another limit


class RemoteInbox(RunInterface):
    """Stands for the inbox of a run in another process. `send` takes a call there, `announce` once has it listen."""

    def __init__(self, clock: PhysicalClock, send: Callable[[bytes], Any], announce: Callable[[], None]) -> None:
        super().__init__(clock)
        self._send = send
        self._announce = announce

    def adopt(self) -> None:
        announce, self._announce = self._announce, lambda: None
        announce()

    def stop(self, after_pending: bool) -> None:
        self._send(pickle.dumps(after_pending))

    def fail(self, thread: str, error: BaseException) -> None:
        """Report an error. If it is too long for a call, a stand-in arrives with the beginning of its text."""
        if not self.over and os.getpid() == self.process:
            failure = PortableFailure.of(Failure(error, None))
            call = pickle.dumps((thread, failure))
            if len(call) > LONGEST_CALL:
                short = type(failure.stand_in)(failure.stand_in.kind, failure.stand_in.words[: LONGEST_CALL // 8])
                call = pickle.dumps((thread, failure._replace(pickled=b"", stand_in=short, where="")))
            self._send(call)


def pass_on(call: bytes, inbox: Inbox) -> None:
    """Pass a call of a RemoteInbox on to the inbox of the run."""
    called = pickle.loads(call)
    if isinstance(called, bool):
        inbox.stop(after_pending=called)
    else:
        thread, failure = called
        inbox.fail(thread, failure.rebuilt().error)


class InboxListener:
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
        while True:
            try:
                call = self._reading.recv(LONGEST_CALL)
            except OSError:  # closed by this thread, if it collects garbage
                return
            if not call:
                return
            pass_on(call, self._inbox)

    def close(self) -> None:
        if self._thread is not None:
            with suppress(OSError):
                self.writing.send(b"")
            if self._thread is not threading.current_thread():  # it may collect garbage
                self._thread.join()
        self._reading.close()
        self.writing.close()

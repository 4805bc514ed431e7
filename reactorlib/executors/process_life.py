"""How far a worker process is in its life, and what signals and the death of its parent mean to it."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import threading
from contextlib import suppress

from reactorlib.executors.failure import Stopped
from reactorlib.transport.exchange import Exchange

HELD = (signal.SIGINT, signal.SIGTERM)  # blocked while a process starts, until its handlers are in place
LEAVING, GONE = 1, 2  # stages of a worker's life
_PR_SET_PDEATHSIG = 1


class ProcessLife:
    """The life of a worker process, which leads a session of its own.

    So a terminal's signals reach worker 0 alone. And Linux, which shares the processors among sessions, gives the
    workers as much next to other programs as it gives to any process (sched(7), autogroup).

    `parent`: the process of worker 0. `tied`: worker 0 is started by a thread that lives as long as the run.
    """

    def __init__(self, worker: int, parent: int, exchange: Exchange, tied: bool) -> None:
        self.worker = worker
        self.exchange = exchange
        self.stopped = False  # nothing is left to do but to leave
        self._parent = parent
        self._tied = tied

    def guard(self) -> None:
        """Begin a session, and put the signal handlers in place: first thing in the process."""
        os.setsid()
        # Worker 0 decides the meaning of Ctrl-C, and passes it on to programs that reactions started. These would
        # inherit SIG_IGN.
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
        signal.signal(signal.SIGTERM, self.terminate)
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))  # by a reaction
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        # Linux reports the end of the thread that started a child, not of its process. Also, a process of the fork
        # server is no child of worker 0's, nor is one that has survived it.
        if self._tied:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if not self._tied or os.getppid() != self._parent:
            threading.Thread(target=self._follow_parent, daemon=True).start()
        self.check()

    def check(self) -> None:
        """Called at least every 50 ms while this worker waits. Raises Stopped if the run is over."""
        if self.exchange.aborted:
            self.stopped = True
            raise Stopped

    def _follow_parent(self) -> None:
        """End with worker 0's process. A pipe from it would not do: each process forked from it keeps that open."""
        with suppress(ProcessLookupError):
            ended = select.poll()
            ended.register(os.pidfd_open(self._parent), select.POLLIN)
            ended.poll()
        os._exit(1)

    def enter(self, stage: int) -> None:
        """Let worker 0 know that only shutdown reactions are left, which nothing breaks off, or not even these."""
        self.stopped = True
        self.exchange.stages[self.worker] = stage

    def terminate(self, _number: int, _frame: object) -> None:
        """Worker 0 breaks off a reaction like this. A SIGTERM to all processes is worker 0's to obey, as Ctrl-C is."""
        if not self.stopped:
            self.check()

"""A worker process from its start to its end: its work, and its answers to signals and to its parent's death."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import select
import signal
import socket
import threading
from collections.abc import Container
from contextlib import suppress
from errno import ESRCH
from functools import partial
from time import sleep
from typing import NamedTuple

from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.records import Cell, Elaborated
from reactorlib.errors import RunError, WorkerError
from reactorlib.executors.failure import Failure, Stopped
from reactorlib.executors.follower import Follower, Outbox
from reactorlib.executors.library_threads import limit
from reactorlib.executors.likeness import Likeness, difference, likeness
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.remote_inbox import RemoteInbox
from reactorlib.schedule.partition import Partition
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.worker.clock import PhysicalClock
from reactorlib.worker.context import current
from reactorlib.worker.worker import Worker

HELD = (signal.SIGINT, signal.SIGTERM)  # blocked while a process starts, until its handlers are in place
FAILED, LEAVING, GONE = 1, 2, 3  # stages of a worker's life
LOOK_AT_PARENT_S = 0.2  # where nothing reports its end
_PR_SET_PDEATHSIG = 1


class WorkerSetup(NamedTuple):
    """Arguments of all worker processes."""

    parent: int  # process id of worker 0
    exchange: Exchange
    program: Elaborated | tuple[bytes, Likeness]  # the pickle for processes that are spawned, and worker 0's likeness
    partition: Partition
    crossing_cells: Container[Cell]  # whose values other workers read
    clock: PhysicalClock
    calls: socket.socket  # to worker 0, for threads that reactions start
    traced: bool
    library_threads: int | None
    tied: bool  # to the thread that starts it: it lives as long as the run


class ProcessLife:
    """The life of a worker process, which leads a session of its own.

    So a terminal's signals reach worker 0 alone. And Linux, which shares the processors among sessions, gives the
    workers as much next to other programs as it gives to any process (sched(7), autogroup).
    """

    def __init__(self, worker: int, setup: WorkerSetup) -> None:
        self.worker = worker
        self.setup = setup
        self.stopped = False  # nothing is left to do but to leave

    def guard(self) -> None:
        """Begin a session, and put the signal handlers in place: first thing in the process."""
        os.setsid()
        # Worker 0 decides what Ctrl-C means, and passes it on to programs of reactions. They would inherit SIG_IGN.
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
        signal.signal(signal.SIGTERM, self.terminate)
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))  # by a reaction
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        # Linux reports the end of the thread that started a child, not of its process. Also, a process of the fork
        # server is no child of worker 0's, nor is one that has survived it.
        if self.setup.tied:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if not self.setup.tied or os.getppid() != self.setup.parent:
            threading.Thread(target=self._follow_parent, daemon=True).start()
        self.check()

    def check(self) -> None:
        """Called at least every 50 ms while this worker waits. Raises Stopped if the run is over."""
        if self.setup.exchange.aborted:
            self.stopped = True
            raise Stopped

    def _follow_parent(self) -> None:
        """End with worker 0's process. A pipe from it would not do: each process forked from it keeps that open."""
        parent = self.setup.parent
        with suppress(ProcessLookupError):
            try:
                ended = select.poll()
                ended.register(os.pidfd_open(parent), select.POLLIN)
                ended.poll()
            except OSError as error:
                if error.errno == ESRCH:
                    raise
                while True:  # a kernel before Linux 5.3, or a sandbox, has no such call
                    os.kill(parent, 0)
                    sleep(LOOK_AT_PARENT_S)
        os._exit(1)

    def enter(self, stage: int) -> None:
        """Let worker 0 know that only shutdown reactions are left, which nothing breaks off, or not even these."""
        self.stopped = True
        self.setup.exchange.stages[self.worker] = stage

    def fail(self) -> None:
        """Let worker 0 know that a reaction has failed here, before it takes the message that says so."""
        self.setup.exchange.stages[self.worker] = FAILED

    def terminate(self, _number: int, _frame: object) -> None:
        """Worker 0 breaks off a reaction like this. A SIGTERM to all processes is worker 0's to obey, as Ctrl-C is."""
        if not self.stopped:
            self.check()


def serve(number: int, setup: WorkerSetup) -> None:
    """The whole life of a worker process."""
    life = ProcessLife(number, setup)
    with suppress(Stopped):
        life.guard()
        limit(setup.library_threads, forked=isinstance(setup.program, Elaborated))
        current.worker = None
        messenger, outbox = Messenger(Endpoint(setup.exchange, number, life.check)), Outbox()
        try:
            outside = RemoteInbox(setup.clock, setup.calls.send, outbox.listen)
            worker = Worker(_program(number, setup), number, outside, outbox, setup.traced,
                            buffers=messenger.buffers(setup.crossing_cells))  # fmt: skip
            follower = Follower(worker, setup.partition, messenger, partial(life.enter, LEAVING),
                                life.fail)  # fmt: skip
        except Exception as error:  # noqa: BLE001  # a constructor or an import of the user's: worker 0 raises it
            messenger.fail(Failure(error, None))
        else:
            gc.freeze()  # a full collection need not visit what the program and its libraries have made so far
            follower.live()
        life.enter(GONE)


def _program(number: int, setup: WorkerSetup) -> Elaborated:
    if isinstance(setup.program, Elaborated):
        return setup.program
    pickled, expected = setup.program
    try:
        cls, parameters = pickle.loads(pickled)
    except Exception as error:
        raise WorkerError(
            f"a new process cannot rebuild the program: {type(error).__name__}: {error}. Define its class in a module "
            "or script that can be imported, or use start_method='fork'"
        ) from error
    program = elaborated(cls, **parameters)
    names = ("worker 0", f"worker {number}")
    differs = difference((expected, likeness(program, setup.partition)), names)
    if differs is not None:
        raise RunError(
            f"{differs}; what a constructor makes must not depend on the process, as the order of a set does"
        )
    return program

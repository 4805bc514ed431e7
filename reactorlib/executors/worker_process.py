"""A worker process: its signals, and how its life ends. What it does meanwhile is in `distributed_follower`."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from reactorlib.clock import Clock
from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.program import Elaborated
from reactorlib.errors import RunError, WorkerError
from reactorlib.executors.distributed_follower import DistributedFollower, worker_of
from reactorlib.executors.failure import Failure, Stopped
from reactorlib.executors.library_threads import limit
from reactorlib.executors.post import Post
from reactorlib.executors.same_program import Likeness, difference, likeness
from reactorlib.executors.termination import Life, leave_to_worker_0
from reactorlib.executors.thread_calls import Caller
from reactorlib.schedule.partition import Partition
from reactorlib.transport.exchange import Exchange
from reactorlib.worker.context import current
from reactorlib.worker.scheduler import Outbox

HELD = (signal.SIGINT, signal.SIGTERM)  # kept back while a process starts, until its handlers are in place
BEGUN, LEAVING, GONE = 1, 2, 3  # stages of a worker's life
_PR_SET_PDEATHSIG = 1


class Setup(NamedTuple):
    """What a worker process knows from the start. `program` is pickled as class and parameters if it is spawned."""

    worker: int
    parent: int  # process id
    exchange: Exchange
    program: Elaborated | bytes
    likeness: Likeness | None  # of worker 0's program, if it is spawned
    partition: Partition
    clock: Clock
    calls: socket.socket  # to worker 0, for threads that reactions start
    traced: bool
    survives: bool | None  # SIGTERM to the whole group, as worker 0 does by a handler; None: if it has one by then
    library_threads: int | None
    tied: bool  # to the thread that starts it: it lives as long as the run


def serve(setup: Setup) -> None:
    """The whole life of a worker process."""
    life = _Life(setup)
    with suppress(Stopped):
        life.guard()
        limit(setup.library_threads, forked=isinstance(setup.program, Elaborated))
        current.worker = None
        post = Post(setup.exchange.endpoint(setup.worker, life.check))
        try:
            follower = _follower(setup, post, life)
        except Exception as error:  # noqa: BLE001  # a constructor or an import of the user's: worker 0 raises it
            post.fail(Failure(error, None))
            life.enter(GONE)
            return
        follower.say_ready()
        try:
            follower.serve()
            life.enter(GONE)
        except Stopped:
            follower.leave_early()
        follower.worker.outside.over = True


def _follower(setup: Setup, post: Post, life: _Life) -> DistributedFollower:
    outbox = Outbox()
    outside = Caller(setup.clock, setup.calls.send, outbox.listen)
    worker = worker_of(_program(setup), setup.worker, outside, outbox, setup.traced)
    return DistributedFollower(worker, setup.partition, post, life)


def _program(setup: Setup) -> Elaborated:
    if isinstance(setup.program, Elaborated):
        return setup.program
    try:
        cls, parameters = pickle.loads(setup.program)
    except Exception as error:
        raise WorkerError(
            f"a new process cannot rebuild the program: {type(error).__name__}: {error}. Define its class in a module "
            "or script that can be imported, or use start_method='fork'"
        ) from error
    program = elaborated(cls, **parameters)
    assert setup.likeness is not None
    names = ("worker 0", f"worker {setup.worker}")
    differs = difference((setup.likeness, likeness(program, setup.partition)), names)
    if differs is not None:
        raise RunError(
            f"{differs}; what a constructor makes must not depend on the process, as the order of a set does"
        )
    return program


class _Life(Life):
    """Of a process of this host: its parent may be gone, too."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self.exchange = setup.exchange
        self.worker = setup.worker
        self.parent = os.getppid()
        # A process of the fork server is no child of the run, and Linux tells a child of the end of the thread that
        # started it, not of the process: there the parent's death shows in another way.
        tied = setup.tied and self.parent == setup.parent
        self.remote_parent = None if tied else multiprocessing.parent_process()
        self.survives = setup.survives
        self._worker_0 = setup.parent

    def guard(self) -> None:
        """Put the signal handlers in place: first thing in the process."""
        # Ctrl-C goes to the whole group: worker 0 decides what it means. What reactions start must not ignore it, too.
        signal.signal(signal.SIGINT, leave_to_worker_0)
        signal.signal(signal.SIGTERM, self.terminate)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        if self.remote_parent is not None:
            threading.Thread(target=self._follow, args=(self.remote_parent,), daemon=True).start()
        elif sys.platform == "linux":  # elsewhere a long reaction is finished first
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        self.check()
        self.enter(BEGUN)

    @property
    def is_over(self) -> bool:
        return self.exchange.aborted

    def check(self) -> None:
        if os.getppid() != self.parent:
            os._exit(1)
        super().check()

    def _follow(self, parent: Any) -> None:
        parent.join()
        os._exit(1)

    def is_handled_by_worker_0(self, number: int) -> bool:
        try:
            status = Path(f"/proc/{self._worker_0}/status").read_text()
        except OSError:  # another system than Linux
            return False
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return bool(caught >> (number - 1) & 1)

    def leave(self) -> None:
        self.enter(LEAVING)

    def enter(self, stage: int) -> None:
        """Let worker 0 know how far this process is."""
        self.stopped = stage >= LEAVING
        self.exchange.enter_stage(self.worker, stage)

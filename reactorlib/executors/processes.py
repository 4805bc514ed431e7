"""Worker processes for interpreters with a GIL: how they start, how it is seen that one died, how they end.

The first half is worker 0's, whose messages are in `distributed`. The second half is the life of another worker: its
work, and its answers to signals and to its parent's death.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import pickle
import select
import signal
import socket
import threading
from collections.abc import Container
from contextlib import ExitStack, suppress
from errno import ESRCH
from functools import partial
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from time import sleep
from typing import Any, NamedTuple

from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.records import Cell, Elaborated
from reactorlib.errors import RunError, WorkerError
from reactorlib.executors import ended_runs
from reactorlib.executors.distributed import LONGEST_END_S, Distributed
from reactorlib.executors.failure import Failure, Stopped
from reactorlib.executors.fingerprint import Fingerprint, difference, fingerprint
from reactorlib.executors.follower import Follower, Outbox
from reactorlib.executors.library_threads import limit
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.remote_inbox import InboxListener, RemoteInbox
from reactorlib.executors.start_method import (
    choose_start_method,
    forking_knowingly,
    obstacle_to_rebuilding,
    pickled_program,
)
from reactorlib.schedule.partition import Partition
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.worker.clock import PhysicalClock
from reactorlib.worker.context import current
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.worker import Worker

HELD = (signal.SIGINT, signal.SIGTERM)  # blocked while a process starts, until its handlers are in place
FAILED, LEAVING, GONE = 1, 2, 3  # stages of a worker's life
LOOK_AT_PARENT_S = 0.2  # where nothing reports its end
_PR_SET_PDEATHSIG = 1
LOOK_S = 0.02  # between two looks at a process that is to end


class Processes(Distributed):
    """One process per worker beside the calling one."""

    name = "processes"

    def __init__(self, coordinator: Coordinator, partition: Partition) -> None:
        if is_daemonic():
            raise RunError(
                'executor="processes" in a daemonic process, such as a worker of multiprocessing.Pool, which may start '
                'no others: use executor="threads", or a process with daemon=False, such as one of ProcessPoolExecutor'
            )
        program, options = coordinator.program, coordinator.options
        self.start_method = choose_start_method(
            options.start_method, lambda: obstacle_to_rebuilding(program.cls, program.parameters)
        )
        self.processes: dict[int, BaseProcess] = {}
        self._at_exit: Finalize | None = None
        ended_runs.collect_if_worthwhile()
        with ExitStack() as undo:
            self.exchange = Exchange(partition.workers)
            undo.callback(self.exchange.close)
            self.listener = InboxListener(coordinator.inbox)
            undo.callback(self.listener.close)
            super().__init__(coordinator, partition, Messenger(Endpoint(self.exchange, 0, self.check)))
            undo.pop_all()
        coordinator.listen = self.listener.listen

    def start(self) -> None:
        main, program, options = self.worker, self.worker.program, self.coordinator.options
        handed: Any = program
        if self.start_method != "fork":
            handed = pickled_program(program.cls, program.parameters), fingerprint(program, self.partition)
        context: Any = multiprocessing.get_context(self.start_method)
        # Kill them at exit if the end of the run was broken off. `atexit` would come too late: before it, a process of
        # multiprocessing waits for its children.
        self._at_exit = Finalize(None, self.kill, exitpriority=1)
        tied = threading.current_thread() is threading.main_thread()
        setup = WorkerSetup(os.getpid(), self.exchange, handed, self.partition, main.buffers.crossing,
                            main.interface.clock, self.listener.writing, options.trace, options.library_threads,
                            tied)  # fmt: skip
        # Ctrl-C meets forked processes with their handlers in place. A fork server would keep the mask.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD if self.start_method == "fork" else ())
        try:
            for worker in self.others:
                process = context.Process(target=serve, args=(worker, setup), name=f"reactor worker {worker}")
                with forking_knowingly():
                    process.start()
                self.processes[worker] = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.await_ready()

    def check(self) -> None:
        ended = wait_for([process.sentinel for process in self.processes.values()], timeout=0)
        for worker, process in self.processes.items():
            if (process.exitcode is not None or process.sentinel in ended) and self.exchange.stages[worker] != GONE:
                self.lost = WorkerError(self._epitaph(worker, process))
                self.lost.worker = worker
                self.interrupt()
                raise self.lost
        super().check()

    def _epitaph(self, worker: int, process: BaseProcess) -> str:
        code = reaped(process)
        how = f"exited with status {code}"
        if code is not None and code < 0:
            names = {number.value: number.name for number in signal.Signals}  # most real-time signals have none
            how = f"was killed by {names.get(-code, f'signal {-code}')}"
        who = self.described(worker).replace("(", f"(process {process.pid}, ", 1)
        return f"{who} {how} before the run ended"

    def has_failed(self, other: int) -> bool:
        return bool(self.exchange.stages[other] == FAILED)

    # The end

    def interrupt(self, error: BaseException | None = None) -> None:
        self.aborted = True
        self.exchange.abort()  # only this flag is safe: worker 0 may have been in the middle of a message
        number = signal.SIGINT if isinstance(error, KeyboardInterrupt) else None
        if isinstance(error, SystemExit) and error.code == 128 + signal.SIGTERM:  # see `exit_on_signal`
            number = signal.SIGTERM
        for process in self.processes.values():
            if number and process.pid:
                with suppress(OSError):  # it has ended, or has not begun
                    os.killpg(process.pid, number)  # programs that its reactions started
            process.terminate()  # breaks off its reaction; it knows that worker 0 did it, see ProcessLife

    def close(self) -> None:
        looks = round(LONGEST_END_S / LOOK_S)  # counted, so that all have their second where the machine stood still
        for worker, process in self.processes.items():
            while process.exitcode is None and not wait_for([process.sentinel], LOOK_S):
                stage = self.exchange.stages[worker]
                if looks == 0 and stage != LEAVING:
                    break
                looks = max(0, looks - 1)
                if self.aborted and stage < LEAVING:
                    process.terminate()  # again: Python obeys a signal that comes just before a sleep only after it
        self.kill()

    def kill(self) -> None:
        while self.processes:
            worker, process = next(iter(self.processes.items()))
            with suppress(ValueError):  # closed already, or somebody else took its exit status
                process.kill()
                process.join()
                process.close()
            del self.processes[worker]
        if self.exchange.bells:
            self.exchange.abort()  # of a worker whose start was broken off nobody knows the process
        self.messenger.codec.close()
        ended_runs.note(self.exchange.taken())
        self.exchange.close()
        self.listener.close()
        if self._at_exit is not None:
            self._at_exit.cancel()


def is_daemonic() -> bool:
    """Whether this process may start no others, by the rule of multiprocessing."""
    return multiprocessing.current_process().daemon


def reaped(process: BaseProcess) -> int | None:
    """End a process that has closed its files, and return its status; None where somebody else took it.

    The system closes the files first. A process that closed them itself and lives on is killed.
    """
    process.kill()
    process.join()
    return process.exitcode


# Another worker


class WorkerSetup(NamedTuple):
    """Arguments of all worker processes."""

    parent: int  # process id of worker 0
    exchange: Exchange
    program: Elaborated | tuple[bytes, Fingerprint]  # for spawned ones: its pickle, and that of worker 0
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
            interface = RemoteInbox(setup.clock, setup.calls.send, outbox.listen)
            worker = Worker(_program(number, setup), number, interface, outbox, setup.traced,
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
    differs = difference((expected, fingerprint(program, setup.partition)), names)
    if differs is not None:
        raise RunError(
            f"{differs}; what a constructor makes must not depend on the process, as the order of a set does"
        )
    return program

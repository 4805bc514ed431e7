"""Worker processes for interpreters with a GIL: how they start, how it is seen that one died, how they end.

Worker 0's messages are in `distributed`. `worker_process` is the other side of this.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import ExitStack, suppress
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from time import monotonic
from typing import Any

from reactorlib.errors import RunError, WorkerError
from reactorlib.executors import ended_runs
from reactorlib.executors.distributed import LONGEST_END_S, Distributed
from reactorlib.executors.likeness import likeness
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.remote_inbox import InboxListener
from reactorlib.executors.start_method import (
    choose_start_method,
    forking_knowingly,
    obstacle_to_rebuilding,
    pickled_program,
)
from reactorlib.executors.worker_process import FAILED, GONE, HELD, LEAVING, WorkerSetup, serve
from reactorlib.schedule.partition import Partition
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.worker.coordinator import Coordinator

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
            handed = pickled_program(program.cls, program.parameters), likeness(program, self.partition)
        context: Any = multiprocessing.get_context(self.start_method)
        # Kill them at exit if the end of the run was broken off. `atexit` would come too late: before it, a process of
        # multiprocessing waits for its children.
        self._at_exit = Finalize(None, self.kill, exitpriority=1)
        tied = threading.current_thread() is threading.main_thread()
        setup = WorkerSetup(os.getpid(), self.exchange, handed, self.partition, main.buffers.crossing,
                            main.outside.clock, self.listener.writing, options.trace, options.library_threads,
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
        deadline = monotonic() + LONGEST_END_S
        for worker, process in self.processes.items():
            while process.exitcode is None and not wait_for([process.sentinel], LOOK_S):
                if monotonic() > deadline and self.exchange.stages[worker] != LEAVING:
                    break
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

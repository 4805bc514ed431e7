"""Worker processes for interpreters with a GIL: the same partition, values through shared memory.

Each process holds copies of the cells that it reads; this is worker 0's side. See `post` for what crosses and
`worker_process` for the other side.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from reactorlib.errors import RunError, WorkerError
from reactorlib.executors import leftovers
from reactorlib.executors.libraries import single_threaded
from reactorlib.executors.parallel import LONGEST_END_S, Failure, Parallel, Poisoned
from reactorlib.executors.post import (
    BEGIN,
    BYE,
    CARRYING,
    DONE,
    END,
    FAILED,
    FORGET,
    GO,
    GO_TAIL,
    MODES,
    PLAN,
    READY,
    ROWS,
    SCHEDULED,
    SCHEDULED_TAIL,
    SYNC,
    Post,
    crossing_cells,
    failure_of,
)
from reactorlib.executors.worker_process import BEGUN, GONE, HELD, LEAVING, Setup, serve
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Send, Wait
from reactorlib.transport.exchange import Exchange
from reactorlib.worker.ending import exit_on_signal
from reactorlib.worker.trace import Row

if TYPE_CHECKING:
    from reactorlib.runtime import Run
    from reactorlib.schedule.plan import Split

LOOK_TAGS = 256  # between two looks at the processes while no wait is so long that it looks: a power of two
LOOK_S = 0.02  # between two looks at a process that is to end
LONGEST_EXIT_S = 0.5  # from the end of a process's files to its own; it may have closed them itself
EXIT_LOOK_S = 0.001


class Processes(Parallel):
    """One process per worker beside the calling one."""

    name = "processes"
    copies = True

    def __init__(self, run: Run, partition: Partition, start_method: str | None = None) -> None:
        super().__init__(run, partition)
        known = multiprocessing.get_all_start_methods()
        self.start_method = start_method or os.environ.get("REACTORLIB_START_METHOD") or known[0]
        if self.start_method not in known:
            raise RunError(f"unknown start method {self.start_method!r}: one of {', '.join(known)}")
        self.processes: dict[int, BaseProcess] = {}
        self.waiting: set[int] = set()  # workers that have yet to end their part of this tag
        self.ending = False  # workers were told to leave
        self.gone: set[int] = set()  # workers that have taken their leave
        others = range(1, partition.workers)
        self._modes_sent = dict.fromkeys(others, -1)  # versions of modes
        self._restarted: dict[int, set[int]] = {worker: set() for worker in others}  # modes, since they were sent
        run.modes.watchers.extend(self._restarted.values())
        self._tags = count(1).__next__  # that other workers took part in
        self.owner = os.getpid()
        leftovers.tidy()
        self.exchange = Exchange(partition.workers)
        try:
            self.post = Post(self.exchange.endpoint(0, self.check))
        except BaseException:
            self.exchange.close()
            raise
        run.binding.shared_cells = crossing_cells(self.splitter)
        run.binding.allocate = self.post.arena.allocate
        self._restore: Callable[[], None] = lambda: None

    # Processes

    def start(self) -> None:
        self._restore = single_threaded()
        program = self.run.program
        handed: Any = program if self.start_method == "fork" else _pickled((program.cls, program.parameters))
        context: Any = multiprocessing.get_context(self.start_method)
        atexit.register(self.kill)  # where the end of the run itself was broken off
        with _signals_held(self.start_method):
            for worker in range(1, self.workers):
                self.processes[worker] = self._start(context, self._setup(worker, handed))
        for worker in self.processes:
            message = self.post.receive(worker)
            if message[-1] != READY:
                self._failed(worker, message)
                raise self.failures[worker].error

    def _setup(self, worker: int, program: Any) -> Setup:
        run = self.run
        survives = signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, exit_on_signal)
        traced = run.recorder is not None
        return Setup(worker, self.owner, self.exchange, program, self.partition, run.clock, traced, survives)

    def begin(self) -> None:
        for worker in self.processes:
            self.post.tell(worker, BEGIN, self.run.started)

    def _start(self, context: Any, setup: Setup) -> BaseProcess:
        process: BaseProcess = context.Process(target=serve, args=(setup,), name=f"reactor worker {setup.worker}")
        with warnings.catch_warnings():
            # Python 3.12 warns of forks beside other threads: the child runs reactor code alone and takes
            # no lock that such a thread could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        return process

    def check(self) -> None:
        """Whether all processes live."""
        ended = wait_for([process.sentinel for process in self.processes.values()], timeout=0)
        for worker, process in self.processes.items():
            code = process.exitcode
            if (code is not None or process.sentinel in ended) and self.exchange.stage_of(worker) != GONE:
                self.lost = WorkerError(self._epitaph(worker, process))
                self.interrupt()
                raise self.lost

    def _epitaph(self, worker: int, process: BaseProcess) -> str:
        code = exit_code(process)
        if code is None:
            how = "ended, and somebody else took its exit status,"
        else:
            how = f"was killed by {_signal_name(-code)}" if code < 0 else f"exited with status {code}"
        members = zip(self.run.program.instances, self.partition.of_instance, strict=True)
        paths = [instance.path for instance, of in members if of == worker]
        shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        text = f"worker {worker} (process {process.pid}, with {shown or 'no reactor'}) {how} before the run ended"
        if self.exchange.stage_of(worker) < BEGUN and self.start_method != "fork":
            text += (
                f"; it did not even begin: with start_method={self.start_method!r} a script must call run() under "
                '`if __name__ == "__main__":`'
            )
        return text

    # Messages of worker 0

    def starter(self, number: int, split: Split) -> Callable[[int], None]:
        queue, post, waiting = self.run.queue, self.post, self.waiting
        groups: dict[tuple[int, ...], list[int]] = {}
        for worker, part in split.parts.items():
            if worker:
                carrying = tuple(i for i in part.events if self.run.program.triggers[i].kind in CARRYING)
                groups.setdefault(carrying, []).append(worker)
        bound = self.run.binding.events
        rows = [
            (
                post.encoder([bound[i] for i in key], workers) if key else bytes,
                tuple(workers),
                [post.sender_to(worker) for worker in workers],
            )
            for key, workers in groups.items()
        ]
        members = [worker for _, workers, _ in rows for worker in workers]
        has_modes, is_new = bool(self.run.modes.states), True
        next_tag = self._tags

        def go(time: int) -> None:
            nonlocal is_new
            if not next_tag() % LOOK_TAGS:
                self.check()
            if is_new or has_modes:
                self._prepare(members, number, split.plan.events if is_new else None)
                is_new = False
            tail = GO_TAIL.pack(number, time, queue.microstep, GO)
            for encode, workers, sends in rows:
                message = encode() + tail
                waiting.update(workers)
                for send in sends:
                    send(message)

        return go

    def _prepare(self, workers: Iterable[int], number: int, events: tuple[int, ...] | None) -> None:
        """What workers must know before they can go: the events of a plan that is new, and modes that have switched."""
        for worker in workers:
            if events is not None:
                self.post.tell(worker, PLAN, (number, events))
            self._tell_modes(worker)

    def _tell_modes(self, worker: int) -> None:
        modes = self.run.modes
        if modes.states and modes.version != self._modes_sent[worker]:
            self._modes_sent[worker] = modes.version
            flags = [(state.active, state.entered) for state in modes.states]
            self.post.tell(worker, MODES, (flags, sorted(self._restarted[worker])))
            self._restarted[worker].clear()

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        readers = [self.run.binding.cell(cell) for cell in item.cells]
        if isinstance(item, Send):
            return self.post.sender(readers, item.to)
        assert isinstance(item, Wait)
        worker, receive, unpack, waiting = (
            item.of,
            self.post.receiver_from(item.of),
            self.post.unpacker(readers),
            self.waiting,
        )

        def wait() -> None:
            message = receive()
            kind = message[-1]
            if kind == DONE:
                waiting.discard(worker)
                unpack(message)
            elif kind == SYNC:
                unpack(message)
            elif kind == SCHEDULED:
                waiting.discard(worker)
                length, _ = SCHEDULED_TAIL.unpack_from(message, len(message) - SCHEDULED_TAIL.size)
                unpack(message[:length])
                self.outboxes[worker] = self.post.codec.decode(message[length:])
            else:
                self._failed(worker, message)
                raise Poisoned

        return wait

    def _failed(self, worker: int, message: bytes) -> None:
        """A worker has failed at this tag; without an error of its own it could not go on for another's."""
        self.waiting.discard(worker)
        if len(message) > 1:
            self.failures[worker] = failure_of(message)

    def forgotten(self) -> None:
        for worker in self.processes:
            self.post.send(worker, bytes([FORGET]))

    # The end

    def finish(self) -> None:
        rows, _ = self._farewells((False, None, 0, 0))
        if self.failures:
            raise Poisoned
        if self.run.recorder is not None:
            self.run.recorder.merge(rows)
        self._close()

    def _farewells(self, how: tuple[bool, int | None, int, int]) -> tuple[list[Row], list[str]]:
        """Tell all workers to end; what they recorded, and what their last reactions raised."""
        rows: list[Row] = []
        notes: list[str] = []
        for worker in self.processes:
            if not self.ending:
                self._tell_modes(worker)
                self.post.tell(worker, END, how)
        self.ending = True
        for worker in self.processes.keys() - self.gone:
            while (message := self.post.receive(worker))[-1] != BYE:
                if message[-1] == ROWS:
                    rows += pickle.loads(message)
                elif message[-1] == FAILED:
                    self._failed(worker, message)
            notes += pickle.loads(message)
            self.gone.add(worker)
        return rows, notes

    def settle(self) -> None:
        try:
            for worker in self.processes:
                self.post.send(worker, bytes([FAILED]))
            while self.waiting:
                worker = min(self.waiting)
                message = self.post.receive(worker)
                if message[-1] in (DONE, SCHEDULED):
                    self.waiting.discard(worker)
                elif message[-1] == FAILED:
                    self._failed(worker, message)
        except WorkerError:  # it died on top of the failure that is reported
            self.interrupt()

    def interrupt(self) -> None:
        self.exchange.abort()  # only this flag is safe: worker 0 may have been in the middle of a message
        for process in self.processes.values():
            process.terminate()  # breaks off its reaction; it knows that worker 0 did it, see worker_process

    def end(self, failure: Failure) -> list[str]:
        notes: list[str] = []
        if not self.exchange.aborted:
            queue = self.run.queue
            try:
                _, notes = self._farewells((True, failure.skipped, queue.time, queue.microstep))
            except WorkerError as second:
                notes.append(str(second))
        self._close()
        return notes

    def _close(self) -> None:
        """Let the processes leave, but for those that are still in a reaction after a second; free all."""
        deadline = monotonic() + LONGEST_END_S
        for worker, process in self.processes.items():
            while _lives(process) and (monotonic() < deadline or self.exchange.stage_of(worker) == LEAVING):
                process.join(LOOK_S)
        self.kill()

    def kill(self) -> None:
        if os.getpid() != self.owner:
            return  # a process forked from this one is at its exit
        while self.processes:
            worker, process = next(iter(self.processes.items()))
            with suppress(ValueError):  # closed already, or somebody else took its exit status
                process.kill()
                process.join()
                process.close()
            del self.processes[worker]
        self.post.codec.close()
        leftovers.note(self.exchange.taken())
        self.exchange.close()
        self._restore()
        atexit.unregister(self.kill)


def _signal_name(number: int) -> str:
    with suppress(ValueError):  # most real-time signals have no name
        return signal.Signals(number).name
    return f"signal {number}"


def exit_code(process: BaseProcess) -> int | None:
    """The status of a process whose sentinel says that it has ended; None where somebody else took it.

    The kernel closes a process's files first and then lets it be waited for: on a busy machine, a while later.
    """
    until = monotonic() + LONGEST_EXIT_S
    with suppress(OSError):  # there is no such process any more
        while process.exitcode is None and process.pid is not None and monotonic() < until:
            os.kill(process.pid, 0)
            sleep(EXIT_LOOK_S)
    return process.exitcode


def _lives(process: BaseProcess) -> bool:
    return process.exitcode is None and not wait_for([process.sentinel], timeout=0)


@contextmanager
def _signals_held(start_method: str) -> Iterator[None]:
    """Ctrl-C meets new processes with their handlers in place. The fork server would keep the mask, so not there."""
    if start_method == "forkserver":
        yield
        return
    if start_method == "spawn":
        resource_tracker.ensure_running()  # else it starts together with the first process, and lets signals in
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pickled(program: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps(program)
    except Exception as error:
        raise WorkerError(
            f"{program[0].__qualname__} cannot be sent to a new process: {error}. Define its class at the top level "
            "of a module and give it parameters that can be pickled, or use start_method='fork'"
        ) from error

"""Worker processes for interpreters with a GIL: the same partition, values through shared memory.

Each process holds copies of the cells that it reads. A message carries what crosses: which cells are present,
and their values, encoded once. Large buffers lie in shared memory and are read there; small values are part of
the message.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from struct import Struct
from time import monotonic
from typing import TYPE_CHECKING, Any

from reactorlib.binding import Binding
from reactorlib.cells import Event, Reader
from reactorlib.clock import PhysicalClock
from reactorlib.compiler import Ref
from reactorlib.context import current
from reactorlib.elaboration import elaborate
from reactorlib.errors import ReactorError, RunError, WorkerError
from reactorlib.executors.ending import shut_down
from reactorlib.executors.libraries import single_threaded
from reactorlib.executors.objects import Schedule, Schedules
from reactorlib.executors.parallel import LONGEST_END_S, Failure, Parallel, Poisoned, Stopped, WorkerSide, load_part
from reactorlib.modes import ModeState, reset_states, states_by_mode
from reactorlib.partition import Partition
from reactorlib.plan import Reach
from reactorlib.program import Cell, Program
from reactorlib.reactor import Reactor
from reactorlib.split import Send, Splitter, Wait
from reactorlib.transport.exchange import Endpoint, Exchange

if TYPE_CHECKING:
    from reactorlib.runtime import Run
    from reactorlib.split import Split

GO, DONE, SYNC, FAILED, END, PLAN, MODES, FORGET, BYE = range(9)
_GO = Struct("<BIqI")  # kind, number of the split, time, microstep
_DONE = Struct("<BI")  # kind, length of the cells that follow; then the outbox
CARRYING = ("logical", "physical", "delay", "physical delay")  # triggers whose events have values


class Post:
    """One worker's end of the exchange, in terms of cells: packed into messages, unpacked into readers."""

    def __init__(self, end: Endpoint) -> None:
        self.codec = end.codec
        self.arena = end.arena
        self._outgoing, self._incoming = end.outgoing, end.incoming

    def send(self, worker: int, message: bytes) -> None:
        self._outgoing(worker).send(message)

    def receive(self, worker: int) -> bytes:
        return self._incoming(worker).receive()

    def packer(self, cells: Sequence[Reader], receiver: int) -> Callable[[], bytes]:
        """A function that says which cells are present (one bit each, in whole bytes), then their values."""
        encode = self.codec.encoder((receiver,))
        size = len(cells) + 7 >> 3
        everything = ((1 << len(cells)) - 1).to_bytes(size, "little")

        def pack() -> bytes:
            values = [cell.value for cell in cells if cell.is_present]
            if len(values) == len(cells):
                return everything + encode(tuple(values))
            mask = sum(1 << position for position, cell in enumerate(cells) if cell.is_present)
            head = mask.to_bytes(size, "little")
            return head + encode(tuple(values)) if values else head

        return pack

    def sender(self, cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        """What a Send does: all cells in one message."""
        pack, send, head = self.packer(cells, receiver), self._outgoing(receiver).send, bytes([SYNC])
        return lambda: send(head + pack())

    def unpack(self, cells: Sequence[Reader], data: bytes) -> None:
        """Make present what the sender's cells held."""
        size = len(cells) + 7 >> 3
        if len(data) == size:
            return
        mask = int.from_bytes(data[:size], "little")
        if mask != (1 << len(cells)) - 1:
            cells = [cell for position, cell in enumerate(cells) if mask >> position & 1]
        for cell, value in zip(cells, self.codec.decode(data[size:]), strict=True):
            cell.value = value
            cell.is_present = True


def crossing_cells(splitter: Splitter) -> frozenset[Cell]:
    """Cells whose values other workers read, now or after a delay: their buffers belong in shared memory."""
    reach, readers = splitter.reach, splitter.readers
    owner = {cell: worker for node, worker in enumerate(splitter.partition.of_node) for cell in reach.sets(node)}
    crossing = {cell for cell, worker in owner.items() if readers.get(cell, set()) - {worker}}
    for trigger in reach.program.triggers:
        if trigger.source is not None:  # the value goes by way of worker 0, where the event queue is
            users = {0, *readers.get(trigger.cell, ())}
            if users - {owner.get(trigger.source, 0)}:
                crossing.add(trigger.source)
    return frozenset(crossing)


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
        self.waiting: set[int] = set()
        self._modes_sent = dict.fromkeys(range(1, partition.workers), -1)  # versions of modes
        self._announced: dict[int, set[int]] = {worker: set() for worker in range(1, partition.workers)}
        self.exchange = Exchange(partition.workers)
        self.post = Post(self.exchange.endpoint(0, self.check))
        run.binding.shared_cells = crossing_cells(self.splitter)
        run.binding.allocate = self.post.arena.allocate
        self._restore: Callable[[], None] = lambda: None
        self.ending = False  # workers may leave now

    # Processes

    def start(self) -> None:
        run = self.run
        self._restore = single_threaded()
        context = multiprocessing.get_context(self.start_method)
        for worker in range(1, self.workers):
            if self.start_method == "fork":
                process = context.Process(target=_serve_forked, args=(self, worker))  # type: ignore[attr-defined]
            else:
                setup = (run.program.cls, run.program.parameters, self.partition, run.started, run.recorder is not None)
                _check_picklable(setup)
                process = context.Process(  # type: ignore[attr-defined]
                    target=_serve_spawned, args=(self.exchange, worker, os.getpid(), *setup)
                )
            process.daemon = True
            with warnings.catch_warnings():
                # Python 3.12 warns of forks beside other threads: the child runs reactor code alone and takes
                # no lock that such a thread could hold.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            self.processes[worker] = process

    def check(self) -> None:
        """Called at least every 50 ms while worker 0 waits: whether all the others live."""
        for worker, process in self.processes.items():
            if process.exitcode is not None and not (self.ending and process.exitcode == 0):
                self.exchange.abort()
                raise WorkerError(self._epitaph(worker, process))

    def _epitaph(self, worker: int, process: BaseProcess) -> str:
        code = process.exitcode or 0
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        members = zip(self.run.program.instances, self.partition.of_instance, strict=True)
        paths = [instance.path for instance, of in members if of == worker]
        shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        return f"worker {worker} (process {process.pid}, with {shown}) {how} before the run ended"

    # Messages of worker 0

    def starter(self, number: int, split: Split) -> Callable[[int], None]:
        queue, post = self.run.queue, self.post
        groups: dict[tuple[int, ...], list[int]] = {}
        for worker, part in split.parts.items():
            if worker:
                carrying = tuple(i for i in part.events if self.run.program.triggers[i].kind in CARRYING)
                groups.setdefault(carrying, []).append(worker)
        bound = self.run.binding.events
        rows = [([bound[i] for i in key], post.codec.encoder(workers), workers) for key, workers in groups.items()]
        members = [worker for workers in groups.values() for worker in workers]
        events = split.plan.events

        def go(time: int) -> None:
            head = _GO.pack(GO, number, time, queue.microstep)
            for worker in members:
                self._prepare(worker, number, events)
            self.waiting.update(members)
            for cells, encode, workers in rows:
                message = head + encode(tuple([cell.value for cell in cells])) if cells else head
                for worker in workers:
                    post.send(worker, message)

        return go

    def _prepare(self, worker: int, number: int, events: tuple[int, ...]) -> None:
        """What a worker must know before it can go: the plan, when it is new to it, and modes that have switched."""
        announced = self._announced[worker]
        if number not in announced:
            announced.add(number)
            self.post.send(worker, bytes([PLAN]) + pickle.dumps((number, events)))
        modes = self.run.modes
        if modes.states and modes.version != self._modes_sent[worker]:
            log = modes.restarted[max(0, self._modes_sent[worker]) :]
            self._modes_sent[worker] = modes.version
            flags = [(state.active, state.entered) for state in modes.states]
            self.post.send(worker, bytes([MODES]) + pickle.dumps((flags, log)))

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        readers = [self.run.binding.cell(cell) for cell in item.cells]
        if isinstance(item, Send):
            return self.post.sender(readers, item.to)
        assert isinstance(item, Wait)
        post, worker = self.post, item.of
        return lambda: self._take(worker, post.receive(worker), readers)

    def _take(self, worker: int, message: bytes, readers: Sequence[Reader]) -> None:
        """On worker 0: a message of another worker."""
        kind = message[0]
        if kind == SYNC:
            self.post.unpack(readers, message[1:])
        elif kind == DONE:
            _, length = _DONE.unpack_from(message)
            if length:
                self.post.unpack(readers, message[_DONE.size : _DONE.size + length])
            if len(message) > _DONE.size + length:
                self.outboxes[worker] = self.post.codec.decode(message[_DONE.size + length :])
            self.waiting.discard(worker)
        else:
            self.waiting.discard(worker)
            if len(message) > 1:
                error, node = pickle.loads(message[1:])
                self.failures[worker] = Failure(error, node)
            raise Poisoned

    def forgotten(self) -> None:
        for worker, announced in self._announced.items():
            announced.clear()
            self.post.send(worker, bytes([FORGET]))

    # The end

    def finish(self) -> None:
        self.ending = True
        for worker in self.processes:
            self.post.send(worker, bytes([END]) + pickle.dumps(None))
        for worker in self.processes:
            message = self.post.receive(worker)
            while message[0] != BYE:
                message = self.post.receive(worker)
            rows = pickle.loads(message[1:])
            if self.run.recorder is not None and rows:
                self.run.recorder.merge(rows)
        self.kill()

    def settle(self, limit_s: float | None) -> None:
        if limit_s is not None:  # Ctrl-C may have come in the middle of a message: only the flag is safe
            self.exchange.abort()
            return
        for worker in self.processes:
            self.post.send(worker, bytes([FAILED]))
        try:
            while self.waiting:
                worker = min(self.waiting)
                with suppress(Poisoned):
                    message = self.post.receive(worker)
                    if message[0] != SYNC:
                        self._take(worker, message[:1] if message[0] == DONE else message, ())
        except WorkerError:  # it died on top of the failure that is reported
            self.exchange.abort()

    def end(self, failure: Failure) -> None:
        run = self.run
        mine = [worker == 0 for worker in self.partition.of_node]
        shut_down(run.program, run.binding, run.modes.states, mine.__getitem__, failure.error, failure.skipped)
        if not self.exchange.aborted:
            with suppress(WorkerError):
                for worker in self.processes:
                    self.post.send(worker, bytes([END]) + pickle.dumps((failure.skipped,)))
        self.kill()

    def kill(self) -> None:
        """Wait a second for the processes to leave, then make them; free the shared memory."""
        deadline = monotonic() + LONGEST_END_S
        for process in self.processes.values():
            process.join(max(0.0, deadline - monotonic()))
            if process.exitcode is None:
                process.kill()
                process.join()
            process.close()
        self.processes.clear()
        self.exchange.close()
        self._restore()


class _Worker:
    """One worker process: takes GO, runs its part, says DONE; until END."""

    def __init__(
        self,
        exchange: Exchange,
        worker: int,
        parent: int,
        program: Program,
        partition: Partition,
        started: int,
        traced: bool,
    ) -> None:
        self.program = program
        self.worker = worker
        self.parent = os.getppid()
        # A process of the fork server is no child of the run: its death shows in another way.
        self.remote_parent = multiprocessing.parent_process() if os.getppid() != parent else None
        self.partition = partition
        self.exchange = exchange
        self.post = Post(exchange.endpoint(worker, self.check))
        self.reach = Reach(program)
        self.splitter = Splitter(self.reach, partition, copies=True)
        self.side = WorkerSide(
            program, worker, PhysicalClock(), started, [ModeState() for _ in program.modes], traced, None
        )
        binding: Binding = self.side.binding
        binding.shared_cells = crossing_cells(self.splitter)
        binding.allocate = self.post.arena.allocate
        self.schedules = Schedules(self.side)
        self.states = states_by_mode(program)
        self.parts: dict[int, tuple[Schedule, list[int], list[Event]]] = {}
        self._cells = b""  # packed by the schedule that runs, to travel with the end of its part

    def check(self) -> None:
        """Called at least every 50 ms while this worker waits: whether the run goes on."""
        if os.getppid() != self.parent or (self.remote_parent is not None and not self.remote_parent.is_alive()):
            os._exit(1)
        if self.exchange.aborted:
            raise Stopped

    def serve(self) -> None:
        """Until the end of the run. Shutdown reactions run also when it ends early."""
        current.run = self.side  # type: ignore[assignment]  # all that reactions ask for is there
        try:
            while True:
                message = self.post.receive(0)
                kind = message[0]
                if kind == GO:
                    self._go(message)
                elif kind == PLAN:
                    self._learn(*pickle.loads(message[1:]))
                elif kind == MODES:
                    self._switch(*pickle.loads(message[1:]))
                elif kind == FORGET:
                    self.parts.clear()
                    self.schedules.forget()
                elif kind == END:
                    self._finish(pickle.loads(message[1:]))
                    return
        except Stopped:
            self._shut_down(None)

    def _learn(self, number: int, present: tuple[int, ...]) -> None:
        split = self.splitter.split(self.reach.plan(present))
        part = split.parts[self.worker]
        last = [self.side.binding.cell(cell) for cell in part.last]

        pack = self.post.packer(last, 0)

        def finish() -> None:
            self._cells = pack()

        schedule = load_part(self.program, self.reach, self.schedules, split, part, self._crossing, finish)
        heirs = [item.to for item in part.items if isinstance(item, Send) and item.to]
        events = self.side.binding.events
        carrying = [events[i] for i in part.events if self.program.triggers[i].kind in CARRYING]
        self.parts[number] = schedule, heirs, carrying

    def _crossing(self, ref: Ref) -> Callable[[], None]:
        item, post = ref.index, self.post
        readers = [self.side.binding.cell(cell) for cell in item.cells]
        if isinstance(item, Send):
            return post.sender(readers, item.to)
        source = item.of

        def wait() -> None:
            message = post.receive(source)
            if message[0] == FAILED:
                raise Poisoned
            post.unpack(readers, message[1:])

        return wait

    def _switch(self, flags: list[tuple[bool, bool]], restarted: list[frozenset[int]]) -> None:
        for state, (active, entered) in zip(self.side.mode_states, flags, strict=True):
            state.active, state.entered = active, entered
        for modes in restarted:
            for mode in sorted(modes):
                reset_states(self.states, mode)

    def _go(self, message: bytes) -> None:
        _, number, time, microstep = _GO.unpack_from(message)
        schedule, heirs, carrying = self.parts[number]
        side, post = self.side, self.post
        side.queue.time, side.queue.microstep = time, microstep
        soon: dict[Any, Any] = {}
        try:
            if carrying:
                values = post.codec.decode(message[_GO.size :])
                for event, value in zip(carrying, values, strict=True):
                    event.value = value
            self._cells = b""
            schedule(time, soon)
            cells = self._cells
            outbox = side.take(soon) if soon or side.outbox else None
            tail = post.codec.encode(outbox, (0,)) if outbox else b""
        except Stopped:
            raise
        except BaseException as error:  # noqa: BLE001  # it travels to worker 0, which raises it
            self._fail(error, heirs)
        else:
            post.send(0, _DONE.pack(DONE, len(cells)) + cells + tail)

    def _fail(self, error: BaseException, heirs: Sequence[int]) -> None:
        for heir in heirs:
            self.post.send(heir, bytes([FAILED]))
        if isinstance(error, Poisoned):
            self.post.send(0, bytes([FAILED]))
            return
        node = self.schedules.failed(error.__traceback__)
        self.post.send(0, bytes([FAILED]) + pickle.dumps((_portable(error), node)))

    def _finish(self, failure: tuple[int | None] | None) -> None:
        if failure is None:
            rows = self.side.recorder.take() if self.side.recorder is not None else None
            self.post.send(0, bytes([BYE]) + pickle.dumps(rows))
        else:
            self._shut_down(failure[0])

    def _shut_down(self, failed: int | None) -> None:
        """The shutdown reactions of this worker; what they raise is shown, for the first error is reported."""
        seconds = ReactorError()
        mine = [owner == self.worker for owner in self.partition.of_node]
        shut_down(self.program, self.side.binding, self.side.mode_states, mine.__getitem__, seconds, failed)
        for note in getattr(seconds, "__notes__", ()):
            print(note, file=sys.stderr)


def _portable(error: BaseException) -> BaseException:
    """The exception as it can travel, with the worker's traceback as a note; a stand-in if it cannot be pickled."""
    where = "".join(traceback.format_exception(error))
    try:
        copy: BaseException = pickle.loads(pickle.dumps(error))
        if type(copy) is not type(error):
            raise TypeError
    except Exception:  # noqa: BLE001  # pickling runs the user's code
        copy = RuntimeError(f"{type(error).__name__}: {error}")
    copy.add_note(f"in a worker process:\n{where}")
    return copy


def _serve_forked(owner: Processes, worker: int) -> None:
    run = owner.run
    setup = (run.program, owner.partition, run.started, run.recorder is not None)
    _serve(owner.exchange, worker, os.getppid(), *setup)


def _serve_spawned(
    exchange: Exchange,
    worker: int,
    parent: int,
    cls: type[Reactor],
    parameters: dict[str, Any],
    partition: Partition,
    started: int,
    traced: bool,
) -> None:
    _serve(exchange, worker, parent, elaborate(cls, **parameters), partition, started, traced)


def _serve(
    exchange: Exchange,
    worker: int,
    parent: int,
    program: Program,
    partition: Partition,
    started: int,
    traced: bool,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: worker 0 decides what it means
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    current.run = None
    single_threaded()
    _Worker(exchange, worker, parent, program, partition, started, traced).serve()


def _check_picklable(setup: tuple[Any, ...]) -> None:
    try:
        pickle.dumps(setup)
    except Exception as error:
        raise WorkerError(
            f"{setup[0].__qualname__} cannot be sent to a new process: {error}. Define its class at the top level "
            "of a module and give it parameters that can be pickled, or use start_method='fork'"
        ) from error

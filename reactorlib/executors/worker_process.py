"""A worker process: its side of a run, from the messages of worker 0 to the end of the process."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reactorlib.clock import Clock
from reactorlib.elaboration.elaborate import elaborate
from reactorlib.elaboration.program import Program
from reactorlib.errors import WorkerError
from reactorlib.executors.libraries import single_threaded
from reactorlib.executors.parallel import Failure, Poisoned, Stopped, WorkerSide, load_part
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
)
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Reach, Send
from reactorlib.schedule.split import Splitter
from reactorlib.transport.exchange import Exchange
from reactorlib.transport.generator import Decode
from reactorlib.worker.cells import Event
from reactorlib.worker.context import current
from reactorlib.worker.ending import clear, last_reactions, run_last
from reactorlib.worker.modes import ModeState, reset_states, states_by_mode
from reactorlib.worker.objects import Schedule, Schedules
from reactorlib.worker.trace import Row

HELD = (signal.SIGINT, signal.SIGTERM)  # kept back while a process starts, until its handlers are in place
SIGTERM_GRACE_S = 0.3  # for worker 0 to say that the whole run was told to end, not this process alone
ROWS_AT_ONCE = 256
NOTHING = bytes([DONE])  # no cell
BEGUN, LEAVING, GONE = 1, 2, 3  # stages of a worker's life
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker process knows from the start. `program` is pickled as class and parameters if it is spawned."""

    worker: int
    parent: int  # process id
    exchange: Exchange
    program: Program | bytes
    partition: Partition
    clock: Clock
    traced: bool
    survives: bool  # SIGTERM to the whole group, as worker 0 does by a handler of its own


def _leave_to_worker_0(_number: int, _frame: object) -> None: ...


def serve(setup: Setup) -> None:
    """The whole life of a worker process."""
    life = _Life(setup)
    with suppress(Stopped):
        life.guard()
        single_threaded(forked=isinstance(setup.program, Program))
        current.run = None
        post = Post(setup.exchange.endpoint(setup.worker, life.check))
        try:
            worker = _Worker(setup, _program(setup), post, life)
        except Exception as error:  # noqa: BLE001  # a constructor or an import of the user's: worker 0 raises it
            post.fail(Failure(error, None))
        else:
            post.send(0, bytes([READY]))
            worker.serve()


def _program(setup: Setup) -> Program:
    if isinstance(setup.program, Program):
        return setup.program
    try:
        cls, parameters = pickle.loads(setup.program)
    except Exception as error:
        raise WorkerError(
            f"a new process cannot rebuild the program: {type(error).__name__}: {error}. Define its class in a module "
            "or script that can be imported, or use start_method='fork'"
        ) from error
    return elaborate(cls, **parameters)


class _Life:
    """When this process ends other than by END: its parent is gone, the run was aborted, or it is told to."""

    def __init__(self, setup: Setup) -> None:
        self.exchange = setup.exchange
        self.worker = setup.worker
        self.parent = os.getppid()
        # A process of the fork server is no child of the run: its death shows in another way.
        self.remote_parent = multiprocessing.parent_process() if self.parent != setup.parent else None
        self.stopped = False  # all that is left to do is to leave
        self.survives = setup.survives
        self.alone = False  # SIGTERM was for this process only

    def guard(self) -> None:
        """Put the signal handlers in place: first thing in the process."""
        # Ctrl-C goes to the whole group: worker 0 decides what it means. What reactions start must not ignore it, too.
        signal.signal(signal.SIGINT, _leave_to_worker_0)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        if self.remote_parent is not None:
            threading.Thread(target=self._follow, args=(self.remote_parent,), daemon=True).start()
        elif sys.platform == "linux":  # elsewhere a long reaction is finished first
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        self.check()
        self.enter(BEGUN)

    def check(self) -> None:
        """Called at least every 50 ms while this worker waits: whether the run goes on."""
        if os.getppid() != self.parent:
            os._exit(1)
        if self.exchange.aborted:
            self._stop()

    def _follow(self, parent: Any) -> None:
        parent.join()
        os._exit(1)

    def enter(self, stage: int) -> None:
        """Let worker 0 know how far this process is. Once LEAVING, nobody breaks off its shutdown reactions."""
        self.stopped = stage >= LEAVING
        self.exchange.enter_stage(self.worker, stage)

    def _stop(self) -> None:
        self.stopped = True
        raise Stopped

    def _terminate(self, number: int, _frame: object) -> None:
        """Worker 0 breaks off a reaction like this. Any other SIGTERM means the whole group, or this process alone."""
        if self.stopped:
            return
        if self.exchange.aborted:
            self._stop()
        if self.survives:
            return
        if self.alone:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        timer = threading.Timer(SIGTERM_GRACE_S, self._give_in)
        timer.daemon = True
        timer.start()

    def _give_in(self) -> None:
        self.alone = True
        os.kill(os.getpid(), signal.SIGTERM)


class _Worker:
    """Takes GO, runs its part, says DONE; until END."""

    def __init__(self, setup: Setup, program: Program, post: Post, life: _Life) -> None:
        self.program = program
        self.partition = setup.partition
        self.post = post
        self.life = life
        self.reach = Reach(program)
        self.splitter = Splitter(self.reach, setup.partition, copies=True)
        self.side = WorkerSide(
            program,
            setup.worker,
            setup.clock,
            [ModeState() for _ in program.modes],
            setup.traced,
            None,
        )
        binding = self.side.binding
        binding.shared_cells = crossing_cells(self.splitter)
        binding.allocate = post.arena.allocate
        self.schedules = Schedules(self.side)
        self.states = states_by_mode(program)
        self.parts: dict[int, tuple[Schedule, Decode, list[int], list[Event]]] = {}
        self.process = os.getpid()
        self._done = NOTHING  # made by the schedule that runs: its last message

    def serve(self) -> None:
        """Until the end of the run. Shutdown reactions run also when it ends early."""
        current.run = self.side  # type: ignore[assignment]  # all that reactions ask for is there
        try:
            while self._handle(self.post.receive(0)):
                pass
        except Stopped:
            for note in self._shut_down(None):
                print(note, file=sys.stderr)

    def _handle(self, message: bytes) -> bool:
        """Do what a message says; False after END."""
        kind = message[-1]
        if kind == GO:
            self._go(message)
        elif kind == BEGIN:
            self.side.started = pickle.loads(message)
        elif kind == PLAN:
            self._learn(*pickle.loads(message))
        elif kind == MODES:
            self._switch(*pickle.loads(message))
        elif kind == FORGET:
            self.parts.clear()
            self.schedules.forget()
        elif kind == END:
            self._finish(*pickle.loads(message))
            return False
        return True  # FAILED: this worker had ended its part already

    def _learn(self, number: int, present: tuple[int, ...]) -> None:
        split = self.splitter.split(self.reach.plan(present))
        part = split.parts[self.side.worker]
        pack = self.post.packer([self.side.binding.cell(cell) for cell in part.last], 0, DONE)

        def finish() -> None:
            self._done = pack()

        schedule = load_part(self.program, self.reach, self.schedules, split, part, self._crossing, finish)
        heirs = [item.to for item in part.items if isinstance(item, Send) and item.to]
        events = self.side.binding.events
        carrying = [events[i] for i in part.events if self.program.triggers[i].kind in CARRYING]
        self.parts[number] = schedule, self.post.codec.decoder(), heirs, carrying

    def _crossing(self, ref: Ref) -> Callable[[], None]:
        item, post = ref.index, self.post
        readers = [self.side.binding.cell(cell) for cell in item.cells]
        if isinstance(item, Send):
            return post.sender(readers, item.to)
        receive, unpack = post.receiver_from(item.of), post.unpacker(readers)

        def wait() -> None:
            message = receive()
            if message[-1] != SYNC:
                raise Poisoned
            unpack(message)

        return wait

    def _switch(self, flags: list[tuple[bool, bool]], restarted: Sequence[int]) -> None:
        for state, (active, entered) in zip(self.side.mode_states, flags, strict=True):
            state.active, state.entered = active, entered
        for mode in restarted:
            reset_states(self.states, mode)

    def _go(self, message: bytes) -> None:
        number, time, microstep, _ = GO_TAIL.unpack_from(message, len(message) - GO_TAIL.size)
        schedule, decode, heirs, carrying = self.parts[number]
        side, post = self.side, self.post
        side.queue.time, side.queue.microstep = time, microstep
        soon: dict[Any, Any] = {}
        try:
            if carrying:
                try:
                    values = decode(message)
                except WorkerError as error:
                    raise post.unreadable(carrying, error) from error.__cause__
                for event, value in zip(carrying, values, strict=True):
                    event.value = value
            self._done = NOTHING
            schedule(time, soon)
            done = self._done
            if soon or side.outbox:
                done += self._pack_outbox(side.take(soon)) + SCHEDULED_TAIL.pack(len(done), SCHEDULED)
        except Stopped:
            raise
        except BaseException as error:  # it travels to worker 0, which raises it
            if os.getpid() != self.process:
                raise  # a process that a reaction forked is at its end
            self._fail(error, heirs)
        else:
            post.send(0, done)

    def _pack_outbox(self, outbox: list[tuple[Any, ...]]) -> bytes:
        try:
            return self.post.codec.encode(outbox, (0,))
        except WorkerError as error:
            triggers = self.program.triggers
            values = [(triggers[entry[1]].path, entry[-1]) for entry in outbox if entry[0] not in ("stop", "switch")]
            raise self.post.blame_values(values, error) from error.__cause__

    def _fail(self, error: BaseException, heirs: Sequence[int]) -> None:
        for heir in heirs:
            self.post.send(heir, bytes([FAILED]))
        if isinstance(error, Poisoned):
            self.post.send(0, bytes([FAILED]))
        else:
            self.post.fail(Failure(error, self.schedules.failed(error.__traceback__)))

    # The end

    def _finish(self, early: bool, failed: int | None, time: int, microstep: int) -> None:
        notes: list[str] = []
        if early:
            self.side.queue.time, self.side.queue.microstep = time, microstep
            notes = self._shut_down(failed)
        elif self.side.recorder is not None:
            self._hand_in(self.side.recorder.take())
        self.post.tell(0, BYE, notes)
        self.life.enter(GONE)

    def _hand_in(self, rows: list[Row]) -> None:
        """What was recorded goes to worker 0, in messages of moderate size."""
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            try:
                self.post.tell(0, ROWS, some)
            except Exception as error:  # noqa: BLE001  # pickling runs the user's code
                why = WorkerError(f"the trace cannot travel to worker 0: {type(error).__name__}: {error}")
                self.post.fail(Failure(self.post.blame_values([pair for row in some for pair in row[3]], why), None))
                return

    def _shut_down(self, failed: int | None) -> list[str]:
        """The shutdown reactions of this worker; what they raised."""
        self.life.enter(LEAVING)
        worker, of_node = self.side.worker, self.partition.of_node
        clear(self.side.binding)
        mine = last_reactions(self.program, self.side.mode_states, lambda node: of_node[node] == worker, failed)
        return run_last(self.side.binding, mine)

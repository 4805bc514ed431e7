"""Worker threads that share all cells: true parallelism without a GIL, overlap of what releases it otherwise.

Cells are shared, so that messages only order what happens: a thread reads a cell another one set after it took
the message that was sent after the set. A message is an append to a deque, which is atomic and orders memory.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any

from reactorlib.cpus import available_cpus
from reactorlib.elaboration.program import ReactionInstance
from reactorlib.errors import WorkerError
from reactorlib.executors.libraries import single_threaded
from reactorlib.executors.parallel import (
    LONGEST_END_S,
    Failure,
    Parallel,
    Poisoned,
    Stopped,
    WorkerSide,
    load_part,
)
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Send, Split, Wait
from reactorlib.transport.spinning import Spinner
from reactorlib.worker.context import current
from reactorlib.worker.ending import run_last
from reactorlib.worker.objects import Schedule, Schedules

if TYPE_CHECKING:
    from reactorlib.runtime import Run

LONGEST_BLOCK_S = 0.05
LOOK_S = 0.02  # between two looks at a thread that is to end

GO, DONE, SYNC, FAILED, END = range(5)


def gil_enabled() -> bool:
    """Whether threads take turns in this interpreter, as things are now."""
    check = getattr(sys, "_is_gil_enabled", None)
    return True if check is None else bool(check())


class Mailbox:
    """Messages from one thread to another: spins for a while where threads really run, then blocks."""

    __slots__ = ("_bell", "_items", "_sleeping", "_spinner")

    def __init__(self, spinner: Spinner | None) -> None:
        self._items: deque[tuple[Any, ...]] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._sleeping = False
        self._spinner = spinner  # of the receiving thread

    def put(self, message: tuple[Any, ...]) -> None:
        self._items.append(message)
        if self._sleeping:
            self._bell.put(None)

    def get(self, check: Callable[[], None]) -> tuple[Any, ...]:
        """The next message; `check` is called at least every 50 ms while there is none, and may raise."""
        items = self._items
        if not items and self._spinner is not None:
            self._spinner.spin(items.__len__, perf_counter_ns())
        while not items:
            self._sleep()
            if not items:
                check()
        return items.popleft()

    def _sleep(self) -> None:
        """Sleep until the bell rings, at most 50 ms. A ring for a message that is gone only costs one more look."""
        self._sleeping = True
        try:
            self._bell.empty()  # takes the queue's lock, so that "I sleep" is seen before we look once more
            if not self._items:
                self._bell.get(timeout=LONGEST_BLOCK_S)
        except Empty:
            pass
        finally:
            self._sleeping = False


class Threads(Parallel):
    """One thread per worker beside the calling one."""

    name = "threads"
    copies = False

    def __init__(self, run: Run, partition: Partition) -> None:
        super().__init__(run, partition)
        workers = range(partition.workers)
        spins = not gil_enabled() and available_cpus() >= partition.workers
        spinners = [Spinner() if spins else None for _ in workers]
        self.mail = {(a, b): Mailbox(spinners[b]) for a in workers for b in workers if a != b}
        self.over = False  # threads leave at once
        self.broken = False  # what a thread waits for in the middle of a tag will not come
        self._restore: Callable[[], None] = lambda: None
        self.others: dict[int, _Worker] = {}

    def start(self) -> None:
        self._restore = single_threaded()
        for worker in range(1, self.workers):
            self.others[worker] = _Worker(self, worker)
        for other in self.others.values():
            other.thread.start()

    def begin(self) -> None:
        for other in self.others.values():
            other.side.started = self.run.started

    def check(self) -> None:
        """Whether all threads live: one can only end early by a fault of this library."""
        for other in self.others.values():
            if not other.thread.is_alive():
                self.over = True
                self.lost = WorkerError(f"worker {other.worker} ended before the run did")
                raise self.lost

    # Schedules and messages

    def prepare(self, number: int, split: Split) -> None:
        for worker in split.parts:
            if worker:
                self.others[worker].prepare(number, split)

    def forgotten(self) -> None:
        for other in self.others.values():
            other.parts.clear()
            other.schedules.forget()

    def starter(self, number: int, split: Split) -> Callable[[int], None]:
        members = [(self.others[worker], self.mail[0, worker]) for worker in split.parts if worker]
        queue = self.run.queue

        def go(time: int) -> None:
            message = (GO, number, time, queue.microstep)
            for other, box in members:
                other.busy = True
                box.put(message)

        return go

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        if isinstance(item, Send):
            return self.sender(0, item.to)
        assert isinstance(item, Wait)
        box = self.mail[item.of, 0]

        def wait() -> None:
            kind, outbox = box.get(self.check)
            if kind == DONE:
                self.outboxes[item.of] = outbox
            elif kind == FAILED:
                raise Poisoned

        return wait

    def sender(self, source: int, target: int) -> Callable[[], None]:
        """Tells a worker that everything before is done."""
        box = self.mail[source, target]
        return lambda: box.put((SYNC, None))

    # The end

    def finish(self) -> None:
        self._stop()
        if self.run.recorder is not None:
            for other in self.others.values():
                assert other.side.recorder is not None
                self.run.recorder.merge(other.side.recorder.take())

    def settle(self) -> None:
        self._settle(self.check)
        for worker, other in self.others.items():
            if other.failure is not None:
                self.failures[worker] = other.failure

    def interrupt(self) -> None:
        self.broken = True
        limit = monotonic() + LONGEST_END_S / 2

        def check() -> None:
            if monotonic() > limit:
                raise Stopped

        for other in self.others.values():
            if other.busy:
                other.break_off()
        with suppress(Stopped):  # a reaction may be in a long call into C, which nothing can break off
            self._settle(check)

    def _settle(self, check: Callable[[], None]) -> None:
        """Wait until no thread runs a part of this tag. Which messages worker 0 has seen may not matter here."""
        for worker in self.others:
            self.mail[0, worker].put((FAILED, None))
        for worker, other in self.others.items():
            box = self.mail[worker, 0]

            def look(other: _Worker = other) -> None:
                if not other.busy:
                    raise _Rests
                check()

            with suppress(_Rests):
                while other.busy:
                    box.get(look)

    def end(self, failure: Failure) -> list[str]:
        for worker, other in self.others.items():
            other.last = self.last_reactions(worker, failure.skipped)
            for reaction in other.last:
                other.side.binding.call(reaction.index)  # cells are only ever made here, in the thread of worker 0
        self._stop()
        return [note for other in self.others.values() for note in other.notes]

    def kill(self) -> None:
        self.over = True
        self._restore()

    def _stop(self) -> None:
        """Ask all threads to end, and wait; one that is stuck in a reaction is left behind, it cannot be killed."""
        queue = self.run.queue
        for worker in self.others:
            self.mail[0, worker].put((END, queue.time, queue.microstep))
        deadline = monotonic() + LONGEST_END_S / 2
        for other in self.others.values():
            while other.thread.is_alive() and (other.leaving or monotonic() < deadline):
                other.thread.join(LOOK_S)
            if not other.thread.is_alive():
                other.schedules.forget()
        self.over = True
        self._restore()


class _Rests(Exception):  # noqa: N818  # not an error
    """The thread that was waited for has ended its part."""


class _Worker:
    """What one thread does: takes GO, runs its part, says DONE; until END."""

    def __init__(self, owner: Threads, worker: int) -> None:
        # A thread that never comes back from a reaction must not keep the interpreter from its end.
        # Reactions see the caller's context, as they do inline: decimal's precision, NumPy's error handling.
        self.thread = threading.Thread(
            target=copy_context().run, args=(self.serve,), name=f"reactor worker {worker}", daemon=True
        )
        run = owner.run
        self.owner = owner
        self.worker = worker
        self.side = WorkerSide(
            run.program,
            worker,
            run.clock,
            run.modes.states,
            run.recorder is not None,
            run.binding,
        )
        self.schedules = Schedules(self.side)
        self.parts: dict[int, tuple[Schedule, list[int]]] = {}
        self.busy = False  # from the GO that worker 0 sends to the end of this part of the tag
        self.leaving = False  # only shutdown reactions are left, however long they take
        self.failure: Failure | None = None
        self.last: list[ReactionInstance] = []  # shutdown reactions to run when the run has failed
        self.notes: list[str] = []  # what they raised

    def prepare(self, number: int, split: Split) -> None:
        """Load this worker's part, in the thread of worker 0: cells are only ever made there."""
        owner, part = self.owner, split.parts[self.worker]
        schedule = load_part(owner.run.program, owner.run.reach, self.schedules, split, part, self._crossing, _nothing)
        heirs = [item.to for item in part.items if isinstance(item, Send) and item.to]
        self.parts[number] = schedule, heirs

    def _crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        if isinstance(item, Send):
            return self.owner.sender(self.worker, item.to)
        box = self.owner.mail[item.of, self.worker]

        def wait() -> None:
            if box.get(self._check_in_part)[0] != SYNC:
                raise Poisoned

        return wait

    def _check(self) -> None:
        if self.owner.over:
            raise Stopped

    def _check_in_part(self) -> None:
        self._check()
        if self.owner.broken:
            raise Poisoned

    def serve(self) -> None:
        """The whole life of the thread."""
        current.run = self.side  # type: ignore[assignment]  # all that reactions ask for is there
        inbox, outbox = self.owner.mail[0, self.worker], self.owner.mail[self.worker, 0]
        going = True
        while going:
            try:
                going = self._handle(inbox.get(self._check), outbox)
            except Stopped:
                return
            except Poisoned:  # broken off, but not in the middle of a reaction
                self.busy = False

    def _handle(self, message: tuple[Any, ...], outbox: Mailbox) -> bool:
        """Do what a message says; False after END."""
        self._check()
        if message[0] == GO:
            answer = self._part(*message[1:])
            self.busy = False
            outbox.put(answer)
        elif message[0] == END:
            self.side.queue.time, self.side.queue.microstep = message[1:]
            self.leaving = True
            self.notes = run_last(self.side.binding, self.last)
            return False
        return True  # FAILED: this worker had ended its part already

    def break_off(self) -> None:
        """Make the reaction that runs raise Poisoned, as Ctrl-C does on worker 0; a call into C ends first."""
        ident = ctypes.c_ulong(self.thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Poisoned))

    def _part(self, number: int, time: int, microstep: int) -> tuple[Any, ...]:
        schedule, heirs = self.parts[number]
        self.side.queue.time, self.side.queue.microstep = time, microstep
        soon: dict[Any, Any] = {}
        try:
            schedule(time, soon)
        except Stopped:
            raise
        except BaseException as error:  # worker 0 raises it
            if os.getpid() != self.owner.run.process:
                raise  # a process that a reaction forked is at its end
            if not isinstance(error, Poisoned):
                self.failure = Failure(error, self.schedules.failed(error.__traceback__))
            for heir in heirs:
                self.owner.mail[self.worker, heir].put((FAILED, None))
            return FAILED, None
        return DONE, self.side.take(soon)


def _nothing() -> None:
    """Cells are shared: nothing travels."""

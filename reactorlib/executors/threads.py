"""Worker threads that share all cells: true parallelism without a GIL, overlap of what releases it otherwise.

Cells are shared, so that messages only order what happens: a thread reads a cell another one set after it took
the message that was sent after the set. A message is an append to a deque, which is atomic and orders memory.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any

from reactorlib.compiler import Ref
from reactorlib.context import current
from reactorlib.errors import WorkerError
from reactorlib.executors.ending import shut_down
from reactorlib.executors.libraries import single_threaded
from reactorlib.executors.objects import Schedule, Schedules
from reactorlib.executors.parallel import (
    LONGEST_END_S,
    Failure,
    Parallel,
    Poisoned,
    Stopped,
    WorkerSide,
    load_part,
)
from reactorlib.partition import Partition, available_cpus
from reactorlib.split import Send, Split, Wait

if TYPE_CHECKING:
    from reactorlib.runtime import Run

SPIN_NS = 100_000
LONGEST_BLOCK_S = 0.05

GO, DONE, SYNC, FAILED, END = range(5)


def gil_enabled() -> bool:
    """Whether threads take turns in this interpreter, as things are now."""
    check = getattr(sys, "_is_gil_enabled", None)
    return True if check is None else bool(check())


class Mailbox:
    """Messages from one thread to another: spins for a while where threads really run, then blocks."""

    __slots__ = ("_bell", "_items", "_sleeping", "_spin_ns")

    def __init__(self, spin_ns: int) -> None:
        self._items: deque[tuple[Any, ...]] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._sleeping = False
        self._spin_ns = spin_ns

    def put(self, message: tuple[Any, ...]) -> None:
        self._items.append(message)
        if self._sleeping:
            self._bell.put(None)

    def get(self, check: Callable[[], None]) -> tuple[Any, ...]:
        """The next message; `check` is called at least every 50 ms while there is none, and may raise."""
        items = self._items
        if not items and self._spin_ns:
            limit = perf_counter_ns() + self._spin_ns
            while not items and perf_counter_ns() < limit:
                pass
        while not items:
            self._sleeping = True
            try:
                # The queue's own lock lies between "I sleep" and this second look; a bell lost all the
                # same costs one bounded block, never a hang.
                if not items and self._bell.empty():
                    self._bell.get(timeout=LONGEST_BLOCK_S)
            except Empty:
                check()
            finally:
                self._sleeping = False
        return items.popleft()


class Threads(Parallel):
    """One thread per worker beside the calling one; `true_parallel` says whether the GIL was really off."""

    name = "threads"
    copies = False

    def __init__(self, run: Run, partition: Partition) -> None:
        super().__init__(run, partition)
        spin = 0 if gil_enabled() or available_cpus() < partition.workers else SPIN_NS
        workers = range(partition.workers)
        self.mail = {(a, b): Mailbox(spin) for a in workers for b in workers if a != b}
        self.over = False
        self._restore: Callable[[], None] = lambda: None
        self.threads: dict[int, _WorkerThread] = {}
        self.waiting: set[int] = set()  # workers that have yet to end their part of this tag

    def start(self) -> None:
        self._restore = single_threaded()
        for worker in range(1, self.workers):
            self.threads[worker] = _WorkerThread(self, worker)
        for thread in self.threads.values():
            thread.start()

    def check(self) -> None:
        """Called while a thread waits: whether there is still something to wait for."""
        if self.over:
            raise Stopped
        if threading.current_thread() is threading.main_thread() or current.run is self.run:
            for thread in self.threads.values():
                if not thread.is_alive():
                    raise WorkerError(f"worker {thread.worker} ended before the run did")

    # Schedules and messages

    def prepare(self, number: int, split: Split) -> None:
        for worker in split.parts:
            if worker:
                self.threads[worker].prepare(number, split)

    def forgotten(self) -> None:
        for thread in self.threads.values():
            thread.parts.clear()
            thread.schedules.forget()

    def starter(self, number: int, split: Split) -> Callable[[int], None]:
        members = [worker for worker in split.parts if worker]
        boxes = [self.mail[0, worker] for worker in members]
        queue = self.run.queue

        def go(time: int) -> None:
            message = (GO, number, time, queue.microstep)
            self.waiting.update(members)
            for box in boxes:
                box.put(message)

        return go

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        if isinstance(item, Send):
            return self._sender(0, item.to)
        assert isinstance(item, Wait)
        box = self.mail[item.of, 0]

        def wait() -> None:
            self._take(item.of, box.get(self.check))

        return wait

    def _sender(self, source: int, target: int) -> Callable[[], None]:
        box = self.mail[source, target]
        return lambda: box.put((SYNC,))

    def _take(self, worker: int, message: tuple[Any, ...]) -> None:
        """On worker 0: a message of another worker."""
        if message[0] == DONE:
            self.outboxes[worker] = message[1]
            self.waiting.discard(worker)
        elif message[0] == FAILED:
            self.waiting.discard(worker)
            if message[1] is not None:
                self.failures[worker] = message[1]
            raise Poisoned

    # The end

    def finish(self) -> None:
        self._stop(None)
        if self.run.recorder is not None:
            for thread in self.threads.values():
                assert thread.side.recorder is not None
                self.run.recorder.merge(thread.side.recorder.take())

    def settle(self, limit_s: float | None) -> None:
        for worker in range(1, self.workers):
            self.mail[0, worker].put((FAILED,))
        deadline = None if limit_s is None else monotonic() + limit_s

        def check() -> None:
            self.check()
            if deadline is not None and monotonic() > deadline:
                raise Stopped

        try:
            while self.waiting:
                worker = min(self.waiting)
                with suppress(Poisoned):
                    self._take(worker, self.mail[worker, 0].get(check))
        except Stopped:  # a worker is stuck in a reaction: `end` leaves it behind
            self.over = True

    def end(self, failure: Failure) -> None:
        run = self.run
        shut_down(run.program, run.binding, run.modes.states, self._mine(0), failure.error, failure.skipped)
        self._stop(failure)

    def kill(self) -> None:
        """Let threads that never began leave."""
        self.over = True
        self._restore()

    def _mine(self, worker: int) -> Callable[[int], bool]:
        of_node = self.partition.of_node
        return lambda node: of_node[node] == worker

    def _stop(self, failure: Failure | None) -> None:
        """Ask all threads to end, and wait; one that is stuck in a reaction is left behind, it cannot be killed."""
        for worker in self.threads:
            self.mail[0, worker].put((END, failure))
        deadline = monotonic() + LONGEST_END_S
        for thread in self.threads.values():
            thread.join(max(0.0, deadline - monotonic()))
        self.over = True
        self._restore()


class _WorkerThread(threading.Thread):
    """A worker: takes GO, runs its part, says DONE; until END."""

    def __init__(self, owner: Threads, worker: int) -> None:
        super().__init__(name=f"reactor worker {worker}", daemon=True)
        run = owner.run
        self.owner = owner
        self.worker = worker
        self.side = WorkerSide(
            run.program,
            worker,
            run.clock,
            run.started,
            run.modes.states,
            run.recorder is not None,
            run.binding,
        )
        self.schedules = Schedules(self.side)
        self.parts: dict[int, tuple[Schedule, list[int]]] = {}

    def prepare(self, number: int, split: Split) -> None:
        """Load this worker's part, in the thread of worker 0: cells are only ever made there."""
        owner, part = self.owner, split.parts[self.worker]
        schedule = load_part(owner.run.program, owner.run.reach, self.schedules, split, part, self._crossing, _nothing)
        heirs = [item.to for item in part.items if isinstance(item, Send) and item.to]
        self.parts[number] = schedule, heirs

    def _crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        if isinstance(item, Send):
            return self.owner._sender(self.worker, item.to)
        box, check = self.owner.mail[item.of, self.worker], self.owner.check

        def wait() -> None:
            if box.get(check)[0] == FAILED:
                raise Poisoned

        return wait

    def run(self) -> None:
        current.run = self.side  # type: ignore[assignment]  # all that reactions ask for is there
        inbox, outbox = self.owner.mail[0, self.worker], self.owner.mail[self.worker, 0]
        try:
            while True:
                message = inbox.get(self.owner.check)
                if message[0] == GO:
                    outbox.put(self._part(*message[1:]))
                elif message[0] == END:
                    self._end(message[1])
                    return
        except Stopped:
            pass

    def _part(self, number: int, time: int, microstep: int) -> tuple[Any, ...]:
        schedule, heirs = self.parts[number]
        self.side.queue.time, self.side.queue.microstep = time, microstep
        soon: dict[Any, Any] = {}
        try:
            schedule(time, soon)
        except Stopped:
            raise
        except BaseException as error:  # noqa: BLE001  # it travels to worker 0, which raises it
            for heir in heirs:
                self.owner.mail[self.worker, heir].put((FAILED,))
            if isinstance(error, Poisoned):
                return FAILED, None
            return FAILED, Failure(error, self.schedules.failed(error.__traceback__))
        return DONE, self.side.take(soon)

    def _end(self, failure: Failure | None) -> None:
        if failure is not None:
            owner, run = self.owner, self.owner.run
            mine = owner._mine(self.worker)
            shut_down(run.program, self.side.binding, run.modes.states, mine, failure.error, failure.skipped)


def _nothing() -> None:
    """Cells are shared: nothing travels."""

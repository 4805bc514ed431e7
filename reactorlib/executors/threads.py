"""Worker threads that share all cells: true parallelism without a GIL, overlap of what releases it otherwise.

Cells are shared, so that messages only order what happens: a thread reads a cell another one set after it took
the message that was sent after the set.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from time import monotonic

from reactorlib.cpus import available_cpus, gil_enabled
from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure, Poisoned, Stopped
from reactorlib.executors.follower import Follower
from reactorlib.executors.mailbox import Mailbox
from reactorlib.executors.parallel import LONGEST_END_S, Parallel
from reactorlib.executors.protocol import Control, Done, End, Go, Poison, Sync
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Send, Split, Wait
from reactorlib.transport.waiting import Spinner
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.event_queue import Events
from reactorlib.worker.scheduler import Outbox
from reactorlib.worker.worker import Worker

LOOK_S = 0.02  # between two looks at a thread that is to end


class Threads(Parallel):
    """One thread per worker beside the calling one."""

    name = "threads"

    def __init__(self, coordinator: Coordinator, partition: Partition) -> None:
        super().__init__(coordinator, partition, copies=False)
        workers = range(partition.workers)
        spins = not gil_enabled() and available_cpus() >= partition.workers
        spinners = [Spinner(fellows=partial(self._threads_beside, one)) if spins else None for one in workers]
        self.mail: dict[tuple[int, int], Mailbox[Control | Done]] = {
            (a, b): Mailbox(spinners[b]) for a in workers for b in workers if a != b
        }
        self._main_thread: int | None = None
        self.over = False  # threads leave at once
        self.broken = False  # what a thread waits for in the middle of a tag will not come
        self.others: dict[int, ThreadFollower] = {}

    def _threads_beside(self, worker: int) -> list[int]:
        """What the system calls the threads of the other workers, as far as they have begun."""
        threads = {0: self._main_thread, **{number: other.thread.native_id for number, other in self.others.items()}}
        return [thread for number, thread in threads.items() if number != worker and thread is not None]

    def start(self) -> None:
        self._main_thread = threading.get_native_id()
        for worker in range(1, self.workers):
            self.others[worker] = ThreadFollower(self, worker)
        for other in self.others.values():
            other.thread.start()

    def check(self) -> None:
        """Whether all threads live, and in time: one can only end early by a fault of this library."""
        for number, other in self.others.items():
            if not other.thread.is_alive():
                self.over = True
                self.lost = WorkerError(f"worker {number} ended before the run did")
                raise self.lost
        super().check()

    # Schedules and messages

    def forget(self) -> None:
        for other in self.others.values():
            other.forget()

    def go(self, number: int, split: Split) -> Callable[[int], None]:
        for worker in split.parts:
            if worker:  # in this thread, as cells are only ever made here; they are shared, so that nothing travels
                self.others[worker].load(number, split, finish=lambda: None)
        members = [(self.others[worker], self.mail[0, worker]) for worker in split.parts if worker]
        now = self.worker.now

        def go(time: int) -> None:
            message = Go(number, time, now.microstep)
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
            message = box.get(self.check)
            if isinstance(message, Done):
                self.requests[item.of] = message.requests
            elif isinstance(message, Poison):
                raise Poisoned

        return wait

    def sender(self, source: int, target: int) -> Callable[[], None]:
        """Tells a worker that everything before is done."""
        box, message = self.mail[source, target], Sync()
        return lambda: box.put(message)

    # The end

    def finish(self) -> None:
        self._stop()
        if self.worker.recorder is not None:
            for other in self.others.values():
                assert other.worker.recorder is not None
                self.worker.recorder.merge(other.worker.recorder.take())

    def settle(self) -> None:
        self._settle(self.check)
        for number, other in self.others.items():
            if other.failure is not None:
                self.failures[number] = other.failure

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
        for number in self.others:
            self.mail[0, number].put(Poison())
        for number, other in self.others.items():
            box = self.mail[number, 0]

            def look(other: ThreadFollower = other) -> None:
                if not other.busy:
                    raise _Rests
                check()

            with suppress(_Rests):
                while other.busy:
                    box.get(look)

    def end(self, failure: Failure) -> list[str]:
        for other in self.others.values():
            for reaction in other.last_reactions(failure.skipped):
                other.worker.call(reaction.index)  # cells are only ever made here, in the thread of worker 0
        self._stop(End(True, failure.skipped, self.worker.now.time, self.worker.now.microstep))
        return [note for other in self.others.values() for note in other.notes]

    def kill(self) -> None:
        self.over = True

    def _stop(self, message: End | None = None) -> None:
        """Ask all threads to end, and wait; one that is stuck in a reaction is left behind, it cannot be killed."""
        for number in self.others:
            self.mail[0, number].put(message or End())
        deadline = monotonic() + LONGEST_END_S / 2
        for other in self.others.values():
            while other.thread.is_alive() and (other.leaving or monotonic() < deadline):
                other.thread.join(LOOK_S)
            if not other.thread.is_alive():
                other.loader.forget()
        self.over = True


class _Rests(Exception):  # noqa: N818  # not an error
    """The thread that was waited for has ended its part."""


class ThreadFollower(Follower):
    """What one thread does."""

    def __init__(self, owner: Threads, number: int) -> None:
        main = owner.worker
        traced = main.recorder is not None
        worker = Worker(
            main.program,
            number,
            main.outside,
            Outbox(),
            main.mode_states,
            traced,
            events=main.events,
            cells=main.cells,
        )
        super().__init__(worker, owner.partition)
        # A thread that never comes back from a reaction must not keep the interpreter from its end.
        # Reactions see the caller's context, as they do inline: decimal's precision, NumPy's error handling.
        self.thread = threading.Thread(
            target=copy_context().run, args=(self._live,), name=f"reactor worker {number}", daemon=True
        )
        self.owner = owner
        self.inbox, self.outbox = owner.mail[0, number], owner.mail[number, 0]
        self.busy = False  # from the Go that worker 0 sends to the end of this part of the tag
        self.leaving = False  # only shutdown reactions are left, however long they take
        self.failure: Failure | None = None
        self.notes: list[str] = []  # what its last reactions raised

    def _live(self) -> None:
        while True:
            try:
                self.serve()
            except Poisoned:  # broken off, but not in the middle of a reaction
                self.busy = False
                continue
            except Stopped:
                pass
            return

    def break_off(self) -> None:
        """Make the reaction that runs raise Poisoned, as Ctrl-C does on worker 0; a call into C ends first."""
        ident = ctypes.c_ulong(self.thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Poisoned))

    def receive(self) -> Control:
        message = self.inbox.get(self._check)
        self._check()
        assert not isinstance(message, Done)
        return message

    def _check(self) -> None:
        if self.owner.over:
            raise Stopped

    def _check_in_part(self) -> None:
        self._check()
        if self.owner.broken:
            raise Poisoned

    def obey(self, message: Control) -> None:
        """Poison or Sync of a tag that was broken off: this worker had ended its part already."""

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        if isinstance(item, Send):
            return self.owner.sender(self.worker.number, item.to)
        box = self.owner.mail[item.of, self.worker.number]

        def wait() -> None:
            if not isinstance(box.get(self._check_in_part), Sync):
                raise Poisoned

        return wait

    def say_done(self, soon: Events) -> None:
        self._answer(Done(self.asked.take(soon, self.worker.now.time)))

    def say_failed(self, failure: Failure | None) -> None:
        self.failure = failure or self.failure
        self._answer(Poison())

    def _answer(self, message: Control | Done) -> None:
        self.busy = False
        self.outbox.put(message)

    def poison(self, heir: int) -> None:
        self.owner.mail[self.worker.number, heir].put(Poison())

    def end(self, message: End) -> None:
        if message.early:
            self.worker.now.time, self.worker.now.microstep = message.time, message.microstep
            self.leaving = True
            self.notes = self.shut_down(message.failed)

"""Worker threads that share all cells: true parallelism without a GIL, overlap of what releases it otherwise."""

from __future__ import annotations

import ctypes
import threading
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import permutations
from time import monotonic
from typing import Any

from reactorlib.cpus import gil_enabled, usable_cpus
from reactorlib.errors import WorkerError
from reactorlib.executors.distributed import LONGEST_END_S, Distributed
from reactorlib.executors.failure import Failure, Poisoned, Stopped
from reactorlib.executors.follower import Follower, Outbox
from reactorlib.executors.mailbox import Mailbox
from reactorlib.executors.messenger import ThreadMessenger
from reactorlib.schedule.partition import Partition
from reactorlib.transport.waiting import Spinner
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.worker import Worker


class Threads(Distributed):
    """One thread per worker beside the calling one."""

    name = "threads"

    def __init__(self, coordinator: Coordinator, partition: Partition) -> None:
        workers = range(partition.workers)
        spins = not gil_enabled() and usable_cpus() >= partition.workers
        spinners = [Spinner(fellows=partial(self._threads_beside, one)) if spins else None for one in workers]
        self.mail = {(one, other): Mailbox(spinners[other]) for one, other in permutations(workers, 2)}
        self.over = False  # threads leave at once
        self.followers: dict[int, ThreadFollower] = {}
        self._main_thread = threading.get_native_id()
        self._until: float | None = None  # by `monotonic`: so long worker 0 waits for threads that do not leave
        self._leaving: ThreadFollower | None = None  # the one that worker 0 waits for
        super().__init__(coordinator, partition, ThreadMessenger(self.mail, 0, self.check))

    def _threads_beside(self, worker: int) -> list[int]:
        """The system's numbers of the threads of the other workers, as far as they have begun."""
        threads = {0: self._main_thread, **{number: other.thread.native_id for number, other in self.followers.items()}}
        return [thread for number, thread in threads.items() if number != worker and thread is not None]

    def start(self) -> None:
        self.followers.update((number, ThreadFollower(self, number)) for number in self.others)
        for follower in self.followers.values():
            follower.thread.start()

    def instruct(self, other: int, name: str, *arguments: Any) -> None:
        """Done in this thread, as cells are only ever made here."""
        self.followers[other].obey(name, *arguments)

    def check(self) -> None:
        """Raise WorkerError if a thread has ended, which only a fault of this library can cause. Look at the time."""
        if self._until is not None and monotonic() > self._until and not (self._leaving and self._leaving.is_leaving):
            raise Stopped
        for number, follower in self.followers.items():
            if not follower.thread.is_alive() and not follower.has_left:  # in this order: it may leave meanwhile
                self.over = self.aborted = True
                self.lost = WorkerError(f"worker {number} ended before the run did")
                raise self.lost
        super().check()

    def has_failed(self, other: int) -> bool:
        return self.followers[other].has_failed

    # The end

    def interrupt(self, error: BaseException | None = None) -> None:
        """Break off what threads do. A reaction may be in a long call into C, which ends first."""
        for number in self.waiting:
            self.followers[number].break_off()
        self._until = monotonic() + LONGEST_END_S / 2
        with suppress(Stopped):
            self.settle()

    def _end_early(self, failure: Failure) -> None:
        for follower in self.followers.values():
            for reaction in follower.worker.last_reactions(self.partition.of_node, failure.skipped):
                follower.worker.method(reaction.index)  # makes its cells
        super()._end_early(failure)

    def hear_farewell(self, other: int) -> None:
        self._leaving = self.followers[other]
        with suppress(Stopped):
            super().hear_farewell(other)

    def close(self) -> None:
        """A thread that is stuck in a reaction is left behind: it cannot be killed."""
        for number in self.gone:
            self.followers[number].thread.join()
            self.followers[number].loader.forget()
        self.over = True

    def kill(self) -> None:
        self.over = True


class ThreadFollower(Follower):
    """One worker in a thread of its own."""

    def __init__(self, owner: Threads, number: int) -> None:
        main = owner.worker
        worker = Worker(main.program, number, main.interface, Outbox(), main.recorder is not None, buffers=main.buffers,
                        mode_states=main.mode_states, events=main.events, cells=main.cells)  # fmt: skip
        messenger = ThreadMessenger(owner.mail, number, self._check)
        super().__init__(worker, owner.partition, messenger, self._leave, self._fail)
        self.owner = owner
        self.has_failed = False  # at this tag
        self.has_left = False  # its last message is sent, or nobody waits for one
        self.is_leaving = False  # only shutdown reactions are left, however long they take
        # A thread that never comes back from a reaction must not keep the interpreter from its end.
        # Reactions see the caller's context, as they do inline: decimal's precision, NumPy's error handling.
        self.thread = threading.Thread(
            target=copy_context().run, args=(self._live,), name=f"reactor worker {number}", daemon=True
        )

    def _live(self) -> None:
        self.owner.coordinator.inbox.reacting.add(threading.get_ident())
        with suppress(Stopped):
            while True:
                try:
                    self.serve()
                except Poisoned:  # broken off, but not in the middle of a reaction
                    self.messenger.poison(0)
                else:
                    break
        self.has_left = True

    def _check(self) -> None:
        if self.owner.over:
            raise Stopped

    def _leave(self) -> None:
        self._check()  # a thread that was left behind runs no reaction after the end of the run
        self.is_leaving = True

    def _fail(self) -> None:
        self.has_failed = True

    def break_off(self) -> None:
        """Make the reaction that runs raise Poisoned, as Ctrl-C does on worker 0; a call into C ends first."""
        ident = ctypes.c_ulong(self.thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Poisoned))

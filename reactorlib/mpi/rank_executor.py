"""A run whose workers are ranks: worker 0 on the first rank, and what each other rank does for it."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from struct import Struct
from time import monotonic, perf_counter_ns, sleep
from typing import Any

from reactorlib.cpus import usable_cpus
from reactorlib.elaboration.records import Elaborated, Node
from reactorlib.executors.distributed import LONGEST_END_S, LOOK_TAGS, Distributed
from reactorlib.executors.executor import handling
from reactorlib.executors.failure import Stopped
from reactorlib.executors.follower import Follower, Outbox
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.remote_inbox import RemoteInbox, pass_on
from reactorlib.mpi.ranks import ABORT, CALL, LEFT, Ranks, note_place
from reactorlib.mpi.transport import MPITransport
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.split import Splitter
from reactorlib.transport.waiting import SPIN_NS
from reactorlib.worker.clock import PhysicalClock
from reactorlib.worker.context import current
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.event_queue import Events
from reactorlib.worker.recorder import Row
from reactorlib.worker.worker import Worker

QUESTIONS = 10  # for the time; the one that was answered fastest counts
TIMES = Struct("<qq")  # physical time and perf_counter_ns of rank 0
LOOK_S = 0.005  # between two looks for ranks that have left


def _transport(ranks: Ranks, workers: int, check: Callable[[], None]) -> MPITransport:
    """This rank's end. It spins where every rank of this host has a processor."""
    here = [rank for rank in range(workers) if ranks.hosts[rank] == ranks.hosts[ranks.rank]]
    spin_ns = SPIN_NS if len(here) <= usable_cpus() else 0
    neighbours = [ranks.processes[rank] for rank in here if rank != ranks.rank]
    return MPITransport(ranks.comm, workers, ranks.runs, check, spin_ns, neighbours)


class MPI(Distributed):
    """Worker 0, on the first rank."""

    name = "mpi"

    def __init__(self, coordinator: Coordinator, partition: Partition, ranks: Ranks) -> None:
        self.ranks = ranks
        self._transport = _transport(ranks, partition.workers, self.check)
        super().__init__(coordinator, partition, Messenger(self._transport))

    def start(self) -> None:
        for other in self.others:
            for _ in range(QUESTIONS):
                self.messenger.receiver_from(other)()
                self.messenger.sender_to(other)(TIMES.pack(self.coordinator.clock.now(), perf_counter_ns()))
        self.await_ready()

    def check(self) -> None:
        """Pass on what threads of other ranks have asked for, and look at the time."""
        for call in self.ranks.arrived(CALL):
            pass_on(call, self.coordinator.inbox)
        super().check()

    def with_looks(self, schedule: Any) -> Any:
        count_tag = self.count_tag

        def looking(time: int, soon: Events) -> Any:
            if not count_tag() % LOOK_TAGS:
                self.check()
            return schedule(time, soon)

        return looking

    # The end

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        found, node = super().abandon(error)
        rank = next((worker for worker, failure in self.failures.items() if failure.error is found), 0)
        note_place(found, rank, self.ranks.hosts[rank])
        return found, node

    def interrupt(self, error: BaseException | None = None) -> None:
        if not self.aborted:
            self.aborted = True
            for other in self.others:
                self.ranks.tell(other, ABORT, (self.ranks.runs, None))

    def close(self) -> None:
        """Free the transport. After an interruption the other ranks have a second to leave, or the job is aborted."""
        deadline, staying = monotonic() + LONGEST_END_S, {*self.others} if self.aborted else set()
        while staying and monotonic() < deadline:
            staying.difference_update(self.ranks.arrived(LEFT))
            sleep(LOOK_S)
        self.ranks.is_broken |= bool(staying)
        self.ranks.end_session = None
        self._transport.close()

    def kill(self) -> None:
        if not self._transport.is_closed:
            self.interrupt()
            self.close()


# The other ranks


class RankLife:
    """The life of a rank other than the first: in runs, and while it waits for their outcome or for the next one."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.calls: deque[bytes] = deque()  # of threads, for rank 0
        self.is_in_run = False  # else there is no reaction to break off

    def check(self) -> None:
        """Called between looks for a message. Raises Stopped if rank 0 broke off the run."""
        while self.calls:
            self.ranks.tell(0, CALL, (self.ranks.runs, self.calls.popleft()))
        for _ in self.ranks.arrived(ABORT):
            self.leave()
            raise Stopped

    def leave(self) -> None:
        """Only shutdown reactions are left: nothing breaks them off."""
        self.is_in_run = False

    def handling_signals(self) -> AbstractContextManager[None]:
        """Launchers signal all ranks, one after the other. Break off the reaction, and leave it to rank 0 to raise."""
        return handling(self._end, signal.SIGINT, signal.SIGTERM)

    def _end(self, number: int, _frame: object) -> None:
        if self.ranks.leave_by is None:
            self.ranks.leave_by = monotonic() + 2 * LONGEST_END_S, 128 + number
        if self.is_in_run:
            self.leave()
            raise Stopped


def serve_run(ranks: Ranks, life: RankLife, program: Elaborated, placed: Partition, traced: bool) -> None:
    """Be a worker of a run until its end."""
    transport = _transport(ranks, placed.workers, life.check)
    try:
        life.is_in_run = True
        messenger = Messenger(transport)
        offset, shift = _times(messenger)
        crossing = Splitter(program, placed, copies=True).crossing_cells()
        outbox = Outbox()
        interface = RemoteInbox(PhysicalClock(offset), life.calls.append, outbox.listen)
        worker = Worker(program, ranks.rank, interface, outbox, traced, buffers=messenger.buffers(crossing))
        _RankFollower(worker, placed, messenger, life, shift).live()
    except Stopped:
        ranks.tell(0, LEFT, (ranks.runs, ranks.rank))
    finally:
        life.leave()
        current.worker = None
        transport.close()


def _times(messenger: Messenger) -> tuple[int, int]:
    """Differences of rank 0's physical time and perf_counter to this host's, where Linux has one clock for both."""
    answers = list[tuple[int, int, int]]()
    for _ in range(QUESTIONS):
        asked = perf_counter_ns()
        messenger.sender_to(0)(b"?")
        physical, counter = TIMES.unpack(messenger.receiver_from(0)())
        took = perf_counter_ns() - asked
        answers.append((took, physical - asked - took // 2, counter - asked - took // 2))
    return min(answers)[1:]


class _RankFollower(Follower):
    """`shift`: what to add to this host's perf_counter for that of rank 0."""

    def __init__(self, worker: Worker, partition: Partition, messenger: Messenger, life: RankLife, shift: int) -> None:
        super().__init__(worker, partition, messenger, life.leave)
        self.life = life
        self.shift = shift

    def _go(self, message: bytes, number: int, time: int, microstep: int) -> None:
        super()._go(message, number, time, microstep)
        if self.life.calls:  # waits may never be so long that they look
            self.life.check()

    def hand_in(self, rows: list[Row]) -> None:
        super().hand_in([(*row[:4], row[4] + self.shift, row[5] + self.shift, row[6]) for row in rows])

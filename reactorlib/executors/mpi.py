"""Workers on several machines: one rank of MPI each, rank 0 the main one. Every rank has elaborated the program.

What a rank says and hears at a tag is in `distributed`; who the ranks are, and how a loss is told, in `ranks`.
"""

from __future__ import annotations

import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from struct import Struct
from time import monotonic, perf_counter_ns
from typing import NamedTuple, TypeVar

from reactorlib.clock import PhysicalClock
from reactorlib.cpus import available_cpus
from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.program import Elaborated, Node
from reactorlib.errors import RunError, WorkerError
from reactorlib.executors import garbage
from reactorlib.executors.distributed import Distributed
from reactorlib.executors.distributed_follower import DistributedFollower, worker_of
from reactorlib.executors.failure import Stopped
from reactorlib.executors.parallel import LONGEST_END_S
from reactorlib.executors.post import Post
from reactorlib.executors.ranks import ABORT, CALL, LEAVING, LEFT, Ranks, has_joined, joined, note_place
from reactorlib.executors.same_program import VERSIONED, Likeness, difference, likeness, parameters, versions
from reactorlib.executors.termination import Life, leave_to_worker_0
from reactorlib.executors.thread_calls import Caller, pass_on
from reactorlib.schedule.partition import Partition, partition
from reactorlib.transport.mpi import MPITransport
from reactorlib.transport.waiting import SPIN_NS
from reactorlib.worker.context import current
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.scheduler import Outbox
from reactorlib.worker.trace import Row
from reactorlib.worker.worker import Worker

Program = TypeVar("Program", bound=Elaborated)
Result = TypeVar("Result")

PROBES = 10  # questions for the time; the one that was answered fastest counts
TIMES = Struct("<qq")  # physical time and perf_counter_ns of rank 0


def on_ranks(
    make: Callable[[], Program],
    lead: Callable[[Program, int], Result],
    workers: int | None,
    placement: Mapping[str, int] | None,
    costs: Mapping[str, float] | None,
    traced: bool,
    options: Mapping[str, object],
) -> Result:
    """A run, as every rank of the job calls it: all get what `lead` returns on rank 0, or raise what it raises.

    `make` makes the program on each. RunError on every rank where they are about to run different things, or more
    workers than there are ranks.
    """
    ranks = joined()
    if ranks.is_served:
        raise RunError("run(executor='mpi') is called by all ranks, and these serve sessions: use Session()")
    with ranks.acknowledging():
        told = ", ".join(f"{name}={value!r}" for name, value in options.items())
        program, placed, count = _agreed(
            ranks, "run()", make, workers, placement, costs,
            lambda program, placed: parameters(program) | likeness(program, placed) | {"the options of run()": told},
        )  # fmt: skip
        if ranks.rank:
            with _signals_left_to_rank_0():
                if ranks.rank < count:
                    _serve(ranks, program, placed, traced)
                return ranks.outcome()  # type: ignore[no-any-return]
        with ranks.telling() as outcome:
            outcome.append(lead(program, count))
        return outcome[0]  # type: ignore[no-any-return]


def _agreed(
    ranks: Ranks,
    place: str,
    make: Callable[[], Program],
    workers: int | None,
    placement: Mapping[str, int] | None,
    costs: Mapping[str, float] | None,
    aspects: Callable[[Program, Partition], Likeness],
) -> tuple[Program, Partition, int]:
    """The program, its partition and how many workers there are, the same on all ranks, or RunError on all."""
    with ranks.together(place):
        count = workers or ranks.size
        if count > ranks.size:
            there = "is one rank" if ranks.size == 1 else f"are {ranks.size} ranks"
            raise RunError(
                f"workers={count}, but there {there}: each worker is a rank, so give the launcher as many: "
                f"mpiexec -n {count} ..."
            )
        program = make()
        placed = partition(program, count, placement, costs)
    names = [f"rank {rank} (host {host})" for rank, host in enumerate(ranks.hosts)]
    mine = versions() | aspects(program, placed)
    found = difference(ranks.gather(mine, place), names)
    if found is not None:
        ranks.fail(RunError(found))
    ranks.runs += 1
    return program, placed, count


# Sessions, which the first rank drives


class Request(NamedTuple):
    """What the other ranks are to serve."""

    program: bytes  # the pickle of a class and its parameters
    workers: int | None
    placement: Mapping[str, int] | None
    costs: Mapping[str, float] | None
    traced: bool
    modules: Sequence[str]  # whose values travel


def serving() -> Ranks:
    """The ranks, on the first of them. RunError where the others do not serve."""
    if not has_joined() or not joined().is_served:
        raise RunError(
            "a session on ranks is driven by the first of them, whose script the others serve: "
            "mpiexec -n 4 python -m reactorlib.mpi script.py"
        )
    return joined()


def ask_to_serve(
    program: Elaborated,
    workers: int | None,
    placement: Mapping[str, int] | None,
    costs: Mapping[str, float] | None,
    traced: bool,
) -> int:
    """Have the other ranks serve a session of this program; how many workers it has. RunError where they do not."""
    ranks = serving()
    try:
        pickled = pickle.dumps((program.cls, program.parameters), protocol=5)
    except Exception as error:
        raise RunError(
            f"{program.cls.__name__} and its parameters go to other ranks, and cannot be pickled ({error}): define the "
            "class at the top of a module"
        ) from error
    if ranks.is_busy:
        garbage.collect()  # a session that was forgotten ends here
    if ranks.is_busy:
        raise RunError("the ranks serve one session at a time: close the other one first")
    modules = [name for name in VERSIONED if name in sys.modules]
    with ranks.acknowledging():
        ranks.check()
        ranks.request(Request(pickled, workers, placement, costs, traced, modules))
        count = _agreed(ranks, "Session()", lambda: program, workers, placement, costs, likeness)[2]
    ranks.is_busy = True
    return count


def give_up() -> None:
    """What the other ranks were asked to serve will not be."""
    ranks = joined()
    ranks.is_busy = False
    for other in range(1, ranks.size):
        ranks.tell(other, ABORT)


def serve(ranks: Ranks, load_main: Callable[[], None]) -> None:
    """On the other ranks: serve the sessions of the first one, until it has no more.

    `load_main` defines what the script does, for the first of them. WorkerError after a loss.
    """
    main = [load_main]  # empty, once it is loaded

    def make(request: Request) -> Elaborated:
        while main:
            main.pop()()
        for name in request.modules:
            import_module(name)
        cls, given = pickle.loads(request.program)
        return elaborated(cls, **given)

    with ranks.acknowledging(), _signals_left_to_rank_0():
        while (request := ranks.requested()) is not None:
            try:
                program, placed, count = _agreed(
                    ranks, "Session()", partial(make, request), request.workers, request.placement, request.costs,
                    likeness,
                )  # fmt: skip
            except Exception:  # noqa: BLE001  # the first rank raises it
                ranks.check()
                continue
            if ranks.rank < count:
                _serve(ranks, program, placed, request.traced)


def dismiss(ranks: Ranks) -> None:
    """On the first: there are no more sessions."""
    ranks.request(None)


def _transport(ranks: Ranks, workers: int, check: Callable[[], None]) -> MPITransport:
    """Spins where every rank of this host has a processor."""
    here = [rank for rank in range(workers) if ranks.hosts[rank] == ranks.hosts[ranks.rank]]
    spin_ns = SPIN_NS if len(here) <= available_cpus() else 0
    fellows = [ranks.processes[rank] for rank in here if rank != ranks.rank]
    return MPITransport(ranks.comm, workers, ranks.runs, check, spin_ns, fellows)


class MPI(Distributed):
    """Rank 0."""

    name = "mpi"

    def __init__(self, coordinator: Coordinator, partition: Partition) -> None:
        self.ranks = joined()
        self._transport = _transport(self.ranks, partition.workers, self.check)
        super().__init__(coordinator, partition, self._transport)
        self.ranks.on_loss = coordinator.clock.wake
        self.ranks.on_call = lambda call: pass_on(call, coordinator.inbox)

    def start(self) -> None:
        for other in self.others:
            for _ in range(PROBES):
                self.post.receiver_from(other)()
                self.post.sender_to(other)(TIMES.pack(self.coordinator.clock.now(), perf_counter_ns()))
        self.await_ready()

    def check(self) -> None:
        """Whether all ranks live, and in time."""
        if self.ranks.lost is not None:
            self.lost = self.lost or WorkerError(self.ranks.lost)
            self.interrupt()
            raise self.lost
        super().check()

    # The end

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        found, node = super().abandon(error)
        self.ranks.acknowledge(found)
        if found is not self.lost:
            rank = next((worker for worker, failure in self.failures.items() if failure.error is found), 0)
            note_place(found, rank, self.ranks.hosts[rank])
        return found, node

    def interrupt(self) -> None:
        if not self.aborted:
            self.aborted = True
            for other in self.others:
                self.ranks.tell(other, ABORT)

    def close(self) -> None:
        """Wait until the other ranks have left the run, but for those that are still in a reaction after a second.

        After a loss nobody waits: each rank hears of it from its guard, which ends it if it does not raise that soon.
        """
        deadline = monotonic() + LONGEST_END_S
        staying, leaving = set(self.others), set[int]()
        with suppress(WorkerError):
            while staying and (monotonic() < deadline or staying & leaving) and self.ranks.lost is None:
                rank, kind, _ = self.ranks.hear_within(0.02) or (-1, b"", b"")
                if kind == LEAVING:
                    leaving.add(rank)
                elif kind == LEFT:
                    staying.discard(rank)
        for rank in staying if self.ranks.lost is None else ():
            self.ranks.kill(rank)
        self.ranks.is_busy = False
        self._transport.close()
        self.ranks.quiet()

    def kill(self) -> None:
        self.interrupt()
        self.close()


# The other ranks


def _serve(ranks: Ranks, program: Elaborated, placed: Partition, traced: bool) -> None:
    life = _Life(ranks)
    transport = _transport(ranks, placed.workers, life.check)
    clock: PhysicalClock | None = None
    follower: _RankFollower | None = None
    try:
        with life.guarded():
            post = Post(transport)
            offset, shift = _times(post)
            clock = PhysicalClock(offset)
            outside = Caller(clock, lambda call: ranks.tell(0, CALL, call))
            worker = worker_of(program, ranks.rank, outside, Outbox(), traced)
            follower = _RankFollower(worker, placed, post, life, shift)
            follower.say_ready()
            follower.serve()
    except Stopped:
        if follower is not None:
            follower.leave_early()
    finally:
        if follower is not None:
            follower.worker.outside.over = True
            follower.forget()
        current.worker = None
        transport.close()
        if clock is not None:
            clock.close()
        ranks.quiet()
        ranks.tell(0, LEFT)


def _times(post: Post) -> tuple[int, int]:
    """What to add to this host's monotonic clock for rank 0's physical time, and for its perf_counter."""
    best = None
    for _ in range(PROBES):
        asked = perf_counter_ns()
        post.sender_to(0)(b"?")
        physical, counter = TIMES.unpack(post.receiver_from(0)())
        took = perf_counter_ns() - asked
        if best is None or took < best[0]:
            best = took, physical - asked - took // 2, counter - asked - took // 2
    assert best is not None
    return best[1:]


class _Life(Life):
    """Of a rank: another one may be lost, too."""

    def __init__(self, ranks: Ranks) -> None:
        super().__init__()
        self.ranks = ranks
        self._aborted = False
        self._thread = threading.get_ident()
        self._handles = threading.current_thread() is threading.main_thread()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """While SIGTERM and what rank 0 says break off the reaction that runs."""
        self.ranks.on_abort = self.ranks.on_loss = self._abort
        if not self._handles:
            yield
            return
        before = signal.signal(signal.SIGTERM, self.terminate)
        try:
            self.check()
            yield
        finally:
            self.stopped = True
            signal.signal(signal.SIGTERM, before)

    @property
    def is_over(self) -> bool:
        return self._aborted or self.ranks.lost is not None

    def leave(self) -> None:
        self.stopped = True
        self.ranks.tell(0, LEAVING)

    def _abort(self) -> None:
        """In the thread that hears it: break off the reaction that runs."""
        self._aborted = True
        if self._handles and not self.stopped:
            signal.pthread_kill(self._thread, signal.SIGTERM)


@contextmanager
def _signals_left_to_rank_0() -> Iterator[None]:
    """Ctrl-C goes to all ranks, to one after the other: rank 0 decides what it means, and tells."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, leave_to_worker_0) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        del before[signal.SIGINT]  # it may be on its way to this rank only now
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _RankFollower(DistributedFollower):
    """`shift`: what to add to this host's perf_counter for that of rank 0."""

    def __init__(self, worker: Worker, partition: Partition, post: Post, life: _Life, shift: int) -> None:
        super().__init__(worker, partition, post, life)
        self.shift = shift

    def hand_in(self, rows: list[Row]) -> None:
        super().hand_in([(*row[:4], row[4] + self.shift, row[5] + self.shift, row[6]) for row in rows])

"""The ranks of a job that a launcher of MPI started, and what they tell each other outside of tags.

Failures are MPI's to handle. The launcher ends the job of a rank that dies, and an error that a rank's program does not
catch aborts the job. Ranks sleep while they wait here, as MPI itself would spin.
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NoReturn

from reactorlib.errors import ReactionError, RunError, StandInError, ThreadError, kind_of, words_of
from reactorlib.executors.failure import Failure, PortableFailure, portable

SHORTEST_SLEEP_S, LONGEST_SLEEP_S = 20e-6, 0.01  # between looks for a message; a wait is prolonged by an eighth at most
LAUNCHED = ("PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID")  # set for each rank
SHARED = "/dev/shm/mpich_shm"  # the beginning of the names that MPICH gives to shared memory

GATHER, RELEASE, ABORT, LEFT, CALL, SERVE = range(6)  # tags of messages


class Ranks:
    """This rank among all; one object in a process, see `joined`. `comm` is for workers' messages alone."""

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:  # no mpi4py, or it finds no MPI
            raise RunError(
                f"executor='mpi' needs mpi4py and an MPI ({error}): pip install 'reactorlib[mpi]', or mpi4py by itself "
                "where the machine has an MPI of its own"
            ) from error
        world: Any = MPI.COMM_WORLD
        if world.size == 1 and not is_launched():
            command = " ".join(["python", *sys.orig_argv[1:]])
            raise RunError(f"executor='mpi' needs ranks, which a launcher starts: mpiexec -n 2 {command}")
        self.comm, self._control = world.Dup(), world.Dup()
        for comm in (self.comm, self._control):
            comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        self._any = MPI.ANY_SOURCE
        self.rank: int = world.rank
        self.size: int = world.size
        self.runs = 0
        self.is_served = False  # whether the others serve the first rank: they wait for `request`
        self.is_broken = False  # whether the other ranks may neither receive from this one nor answer
        self.end_session: Callable[[], None] | None = None  # on the first rank, while the others serve one
        self.leave_by: tuple[float, int] | None = None  # after a signal or an error: when this rank ends, its status
        self._holds = False  # on the first rank, whether the others wait until its program has caught an error
        self._process = os.getpid()
        found = self._control.allgather((socket.gethostname(), os.getpid()))
        self.hosts = [host for host, _ in found]
        self.processes = [process for _, process in found]
        self.names = [f"rank {rank} (host {host})" for rank, host in enumerate(self.hosts)]
        remove_shared_files()  # every rank has mapped those of its host: nothing looks for them again
        atexit.register(self._leave)

    # Messages

    def tell(self, rank: int, kind: int, value: Any) -> None:
        request = self._control.isend(value, rank, kind)
        self._await(request.Test)

    def tell_all(self, kind: int, value: Any = None) -> None:
        """On the first rank: send a value to all others."""
        for rank in range(1, self.size):
            self.tell(rank, kind, value)

    def hear(self, rank: int, kind: int) -> Any:
        """The next value of this kind from another rank. Sleeps while it waits."""
        self._await(lambda: self._control.Iprobe(rank, kind))
        return self._control.recv(None, rank, kind)

    def arrived(self, kind: int) -> Iterator[Any]:
        """The values that have come, each sent as a pair with the number of a run: those of the current run."""
        while self._control.Iprobe(self._any, kind):
            run, value = self._control.recv(None, self._any, kind)
            if run == self.runs:
                yield value

    def _await(self, arrived: Callable[[], bool]) -> None:
        began = monotonic()
        try:
            while not arrived():
                now = monotonic()
                if self.leave_by is not None and now > self.leave_by[0]:
                    raise SystemExit(self.leave_by[1])
                sleep(min(max((now - began) / 8, SHORTEST_SLEEP_S), LONGEST_SLEEP_S))
        except BaseException:
            self.is_broken = True
            raise

    # Calls that all ranks make together

    def gather(self, value: Any, place: str) -> list[Any]:
        """The value of each rank, by rank, on every rank. RunError where ranks have come to different places."""
        if self.rank:
            self.tell(0, GATHER, (place, value))
            everything = self.hear(0, GATHER)
        else:
            self._release()
            everything = [(place, value), *(self.hear(rank, GATHER) for rank in range(1, self.size))]
            self.tell_all(GATHER, everything)
        first = everything[0][0]
        for rank, (other, _) in enumerate(everything):
            if other != first:
                places = f"{first} on {self.names[0]}, {other} on {self.names[rank]}"
                told = "each must make the same calls in the same order"
                self.fail(RunError(f"the ranks have come to different places: {places}; {told}"))
        return [value for _, value in everything]

    @contextmanager
    def together(self, place: str) -> Iterator[None]:
        """Raise on all ranks what the block raises on one: the error of the first such rank, with rank and host."""
        mine: BaseException | None = None
        try:
            yield
        except BaseException as error:  # raised again
            if self.is_broken:  # the others will not answer
                raise
            mine = error
        given = self.gather(None if mine is None else packed(mine), place)
        for rank, found in enumerate(given):
            if found is not None:
                first = mine if rank == self.rank and mine is not None else found.rebuilt().error
                note_place(first, rank, self.hosts[rank])
                self.fail(first)

    def fail(self, error: BaseException) -> NoReturn:
        """Raise what all ranks raise here; the others do so once the program of the first rank has caught it.

        If that program does not, its end aborts the job: so Python prints the error once.
        """
        if self.rank:
            self.hear(0, RELEASE)
        else:
            self._holds = True
        raise error

    def _release(self) -> None:
        if self._holds:
            self._holds = False
            self.tell_all(RELEASE)

    def give_up(self) -> None:
        """On the first rank: end the session that the others serve, if there is one."""
        if self.end_session is not None:
            self.end_session()
            self.end_session = None

    def request(self, what: Any) -> None:
        """On the first rank: have the others serve a session in place of any other, or end (None)."""
        self.give_up()
        self._release()
        self.tell_all(SERVE, what)

    def _leave(self) -> None:
        """Wait at exit for the other ranks before MPI ends. After an error, abort the job."""
        if os.getpid() != self._process:
            return
        try:
            if self.is_broken or hasattr(sys, "last_value"):  # Python sets it for an error that nothing has caught
                raise SystemExit
            self.gather(None, "the end of its program")
        except BaseException as error:  # noqa: BLE001  # the process ends
            if isinstance(error, RunError):
                print(f"reactorlib: {error}", file=sys.stderr)
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            self.comm.Abort(1)


_ranks: Ranks | None = None


def joined() -> Ranks:
    """The ranks of this job. RunError where there are none. The first call waits until every rank has made it."""
    global _ranks
    if _ranks is None:
        _ranks = Ranks()
    return _ranks


def serving() -> Ranks:
    """The ranks, on the first of them. RunError where the others do not serve."""
    if _ranks is None or not _ranks.is_served or _ranks.rank:
        raise RunError(
            "a session on ranks is driven by the first of them, whose script the others serve: "
            "mpiexec -n 4 python -m reactorlib.mpi script.py"
        )
    return _ranks


def is_first() -> bool:
    """Whether this process is the first rank, or has joined no ranks."""
    return _ranks is None or _ranks.rank == 0


def is_launched() -> bool:
    """Whether a launcher of MPI started this process."""
    return any(name in os.environ for name in LAUNCHED)


def remove_shared_files() -> None:
    """Unlink the shared memory of MPICH that this process has mapped. A killed rank cannot do it.

    A file with the same name that another job has made since is another file.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        _, found, path = line.partition(SHARED)
        file = Path(found + path)
        with suppress(FileNotFoundError):  # another rank, or MPICH, has unlinked it
            if found and file.stat().st_ino == int(line.split()[4]):
                file.unlink()


def packed(error: BaseException) -> PortableFailure:
    """An error as it travels: with a cause that can."""
    cause = error.__cause__
    if isinstance(error, ReactionError | ThreadError) and cause is not None and not portable(cause):
        error = copy(error)
        error.__cause__ = StandInError(kind_of(cause), words_of(cause))
    return PortableFailure.of(Failure(error, None))._replace(where="")


def note_place(error: BaseException, rank: int, host: str) -> None:
    """Add to an error where it happened, unless that is known."""
    if not any(note.startswith("on rank ") for note in getattr(error, "__notes__", ())):
        error.add_note(f"on rank {rank}, host {host}")

"""The ranks of a job started by mpiexec or the like: who they are, what they agree on, what all learn when one is lost.

What is said here is not of a tag. It goes by way of the guards (see rank_guard.py), so that a rank sleeps while it
waits, and hears of a loss whatever it is busy with. Knows no worker and no program.
"""

from __future__ import annotations

import atexit
import marshal
import os
import pickle
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from time import sleep
from typing import Any, NoReturn

from reactorlib.errors import ReactionError, RunError, StandInError, ThreadError, WorkerError, kind_of, words_of
from reactorlib.executors import rank_guard
from reactorlib.executors.failure import Failure
from reactorlib.executors.portable_failure import failure_of, portable, told
from reactorlib.executors.protocol import Failed

LINK_S, START_S = 10.0, 60.0  # unless REACTORLIB_MPI_LINK_S and REACTORLIB_MPI_START_S say otherwise
LOOK_S = 0.5  # between two looks at what else may have happened
LAUNCHED = ("PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID")  # set for each rank

Packed = tuple[Failed, list[str]]

# What ranks tell each other, by its first byte.
GATHER, OUTCOME, ABORT, LEAVING, LEFT, CALL, SERVE = (bytes([kind]) for kind in range(7))


class Ranks:
    """This rank among all; one object in a process, see `joined`. `comm` is for workers' messages alone."""

    def __init__(self) -> None:
        self.lost: str | None = None  # which rank was, and how
        self.on_loss: Callable[[], None] = _nothing  # these three are called in another thread
        self.on_abort: Callable[[], None] = _nothing
        self.on_call: Callable[[bytes], None] = _nothing
        self.runs = 0
        self.is_served = False  # on the first: the others wait for `request`
        self.is_busy = False  # on the first: with one of these
        self._mail: SimpleQueue[tuple[int, bytes]] = SimpleQueue()
        self._told: BaseException | None = None  # the error that every rank has, if the latest run had one
        self._failed = ""
        self._is_told = False  # the first rank says what is lost, or else its guard
        self._first_lives = False  # after a loss of which it knows
        self._sending = threading.Lock()
        self._ready = threading.Event()
        self._port: SimpleQueue[int] = SimpleQueue()
        self._line = rank_guard.Line(self._start_guard())
        threading.Thread(target=self._hear, name="reactor ranks", daemon=True).start()
        try:
            self._mpi = _mpi()
            world = self._mpi.COMM_WORLD
            if world.size == 1 and not any(name in os.environ for name in LAUNCHED):
                raise RunError(how_to_start())
        except BaseException:
            self._send(0, rank_guard.BYE)
            raise
        self.comm = world.Dup()
        self.rank: int = world.rank
        self.size: int = world.size
        self._meet()

    # The start

    def _start_guard(self) -> socket.socket:
        mine, its = socket.socketpair()
        limits = (os.environ.get("REACTORLIB_MPI_START_S", START_S), os.environ.get("REACTORLIB_MPI_LINK_S", LINK_S))
        command = [sys.executable, "-I", "-S", rank_guard.__file__, str(its.fileno()), str(os.getpid())]
        with its:
            subprocess.Popen(
                [*command, *map(str, limits)], pass_fds=[its.fileno()], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        return mine

    def _meet(self) -> None:
        """Connect the guards of all ranks."""
        found = self.comm.allgather((socket.gethostname(), os.getpid(), _shared_files()))
        self.hosts = [host for host, _, _ in found]
        self.processes = [pid for _, pid, _ in found]
        names = [f"rank {rank} on {host} (process {pid})" for rank, (host, pid, _) in enumerate(found)]
        what: dict[str, Any] = {"rank": self.rank, "names": names, "token": secrets.token_hex(16)}
        if self.rank == 0:
            self._tell_guard(rank_guard.LEAD, what)
            what |= {"addresses": _addresses(), "port": self._port.get(timeout=START_S)}
        what = {**self.comm.bcast(what), "rank": self.rank}
        if self.rank:
            self._tell_guard(rank_guard.JOIN, what)
        self._ready.wait()  # the guard ends this process if that takes too long
        self.check()
        _unlink_all({name for host, _, files in found if host == self.hosts[self.rank] for name in files})
        atexit.register(self._leave)
        self._print, sys.excepthook = sys.excepthook, self._uncaught

    def _tell_guard(self, kind: int, what: dict[str, Any]) -> None:
        self._send(self.rank, kind, marshal.dumps(what))

    # What is heard, in a thread of its own

    def _hear(self) -> None:
        try:
            while True:
                for rank, kind, payload in self._line.frames():
                    self._take(rank, kind, payload)
        except (EOFError, OSError):
            self._is_told = self._first_lives = True  # the first rank's guard sees it, unless it is that one
            self._lose("the guard of this rank is gone")

    def _take(self, rank: int, kind: int, payload: bytes) -> None:
        if kind == rank_guard.PORT:
            self._port.put(int(payload))
        elif kind == rank_guard.READY:
            self._ready.set()
        elif kind == rank_guard.LOST:
            self._is_told, self._first_lives = rank >= 0, rank > 0
            self._lose(payload.decode())
        elif kind == rank_guard.BYE:
            self._lose(f"rank {rank} on {self.hosts[rank]} has left")
        elif payload[:1] == ABORT:
            self.on_abort()
        elif payload[:1] == CALL:
            self.on_call(payload[1:])
        else:
            self._mail.put((rank, payload))

    def _lose(self, text: str) -> None:
        if self.lost is None:
            self.lost = text
            self._ready.set()
            self.on_loss()

    # What is said

    def _send(self, rank: int, kind: int, payload: bytes = b"") -> None:
        with self._sending, suppress(OSError):  # who hears sees that the guard is gone
            self._line.send(rank, kind, payload)

    def tell(self, rank: int, kind: bytes, payload: bytes = b"") -> None:
        """Send to another rank."""
        self._send(rank, rank_guard.MAIL, kind + payload)

    def kill(self, rank: int) -> None:
        """End the process of a rank that does not leave: the job ends with it."""
        self._send(rank, rank_guard.KILL)

    def hear(self) -> tuple[int, bytes, bytes]:
        """The next that was told: by whom, its kind and the rest. WorkerError after a loss."""
        while (told := self.hear_within(LOOK_S)) is None:
            pass
        return told

    def hear_within(self, timeout_s: float) -> tuple[int, bytes, bytes] | None:
        """The same; None after the timeout."""
        try:
            rank, said = self._mail.get(timeout=timeout_s)
        except Empty:
            self.check()
            return None
        return rank, said[:1], said[1:]

    def check(self) -> None:
        """Raise WorkerError if a rank is lost."""
        if self.lost is not None:
            raise WorkerError(self.lost)

    def fail(self, error: BaseException) -> NoReturn:
        """Raise what all ranks raise at this point."""
        self._told = error
        raise error

    @contextmanager
    def acknowledging(self) -> Iterator[None]:
        """The end of a run, or of what comes before it: a loss is raised, so that the process needs no ending."""
        try:
            yield
        except BaseException as error:
            self.acknowledge(error)
            raise

    def acknowledge(self, error: BaseException) -> None:
        """A loss, if there is one, is raised as this error."""
        if self.lost is not None:
            self._send(self.rank, rank_guard.RAISED)
            if self._is_told:
                self._told = error

    def quiet(self) -> None:
        """Until the next run nobody is called."""
        self.on_loss = self.on_abort = self.on_call = _nothing

    # What all ranks do together

    def gather(self, value: Any, place: str) -> list[Any]:
        """What each rank gave, by rank: every rank gets the same.

        RunError where ranks have come to different places in their programs. WorkerError after a loss.
        """
        everything = self._gathered((place, value))
        for rank, (other, _) in enumerate(everything):
            if other != everything[0][0]:
                self.fail(
                    RunError(
                        "the ranks have come to different places: "
                        f"{everything[0][0]} on rank 0 (host {self.hosts[0]}), {other} on rank {rank} "
                        f"(host {self.hosts[rank]}); each must make the same calls in the same order"
                    )
                )
        return [value for _, value in everything]

    def _gathered(self, value: tuple[str, Any]) -> list[tuple[str, Any]]:
        self.check()
        if self.rank:
            self.tell(0, GATHER, pickle.dumps(value))
            return self._told_by_first(GATHER)  # type: ignore[no-any-return]
        given = {0: value}
        while len(given) < self.size:
            rank, kind, payload = self.hear()
            if kind == GATHER:  # else of a run that was broken off
                given[rank] = pickle.loads(payload)
        everything = [given[rank] for rank in range(self.size)]
        self._tell_all(GATHER, everything)
        return everything

    def _tell_all(self, kind: bytes, value: Any) -> None:
        payload = pickle.dumps(value)
        for rank in range(1, self.size):
            self.tell(rank, kind, payload)

    def _told_by_first(self, expected: bytes) -> Any:
        while True:
            _, kind, payload = self.hear()
            if kind == expected:
                return pickle.loads(payload)

    @contextmanager
    def together(self, place: str) -> Iterator[None]:
        """What the block raises on one rank is raised on all: the first rank's, with its rank and host."""
        mine: BaseException | None = None
        try:
            yield
        except BaseException as error:  # noqa: BLE001  # raised again
            mine = error
        given = self.gather(None if mine is None else packed(mine), place)
        for rank, found in enumerate(given):
            if found is not None:
                first = mine if rank == self.rank and mine is not None else unpacked(found)
                note_place(first, rank, self.hosts[rank])
                self.fail(first)

    @contextmanager
    def telling(self) -> Iterator[list[Any]]:
        """On the first rank: the other ranks are told what the block put into the list, or what it raised."""
        outcome: list[Any] = []
        try:
            yield outcome
        except BaseException as error:
            self._told = error
            self._tell_all(OUTCOME, (None, packed(error)))
            raise
        self._tell_all(OUTCOME, (outcome[0], None))

    def outcome(self) -> Any:
        """On the others: what the first rank put, or the error that it has raised."""
        result, error = self._told_by_first(OUTCOME)
        if error is not None:
            self.fail(unpacked(error))
        return result

    # What the first asks of the others

    def request(self, what: Any) -> None:
        """On the first rank: what the others are to serve; None where there is nothing more."""
        self._tell_all(SERVE, what)

    def requested(self) -> Any:
        """On the others: the next of these. WorkerError after a loss."""
        return self._told_by_first(SERVE)

    # The end of the process

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        """An error that every rank has is printed by the first; one that only this rank has ends the job."""
        if error is not self._told:
            self._failed = f"failed: {kind_of(error)}: {words_of(error)}"
        if error is not self._told or self.rank == 0:
            self._print(kind, error, trace)

    def _leave(self) -> None:
        """Before MPI's own end, which would wait for ranks that are lost without end."""
        is_broken = self._failed or (self.lost is not None and " has left" not in self.lost)
        self._send(self.rank, rank_guard.GONE if self._failed else rank_guard.BYE, self._failed.encode())
        if is_broken:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            # What the launcher has not read by then is lost: of this rank, and of the first, which ends the job itself.
            sleep(rank_guard.WAIT_S if self._first_lives and self.rank else rank_guard.READ_S)
            self._mpi.COMM_WORLD.Abort(1)


_ranks: Ranks | None = None


def joined() -> Ranks:
    """The ranks of this job. RunError where there are none. The first call waits until every rank has made it."""
    global _ranks
    if _ranks is None:
        _ranks = Ranks()
    return _ranks


def has_joined() -> bool:
    """Whether this process is one of the ranks of a job already."""
    return _ranks is not None


def is_first() -> bool:
    """Whether this process is the first rank, or has joined no ranks."""
    return _ranks is None or _ranks.rank == 0


def how_to_start() -> str:
    """What to type."""
    command = " ".join(["python", *sys.orig_argv[1:]])
    return f"executor='mpi' needs ranks, which a launcher starts: mpiexec -n 2 {command}"


def _mpi() -> Any:
    try:
        return import_module("mpi4py.MPI")
    except ImportError as error:
        raise RunError(
            f"executor='mpi' needs mpi4py and an MPI ({error}): pip install 'reactorlib[mpi]', or mpi4py by itself "
            "where the machine has an MPI of its own"
        ) from error
    except RuntimeError as error:
        raise RunError(f"mpi4py finds no MPI: {error}") from error


def _addresses() -> list[str]:
    """Where other hosts may reach this one, the likeliest first."""
    found = [socket.gethostname()]
    with suppress(ImportError, OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        from fcntl import ioctl

        for _, name in socket.if_nameindex():
            with suppress(OSError):  # an interface without an address
                asked = ioctl(asking, 0x8915, name.encode()[:15].ljust(256, b"\0"))  # SIOCGIFADDR
                found.append(socket.inet_ntoa(asked[20:24]))
    return sorted(found, key=lambda address: address.startswith("127."))


def _shared_files() -> list[str]:
    """Names in /dev/shm that MPI mapped: what is killed cannot unlink them, and all who need them have them by now."""
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
        return sorted({line.split()[-1] for line in maps if "/dev/shm/mpich_shm" in line})
    return []


def _unlink_all(paths: set[str]) -> None:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108


def packed(error: BaseException) -> Packed:
    """An error as it travels: itself and its notes."""
    cause = error.__cause__
    if isinstance(error, ReactionError | ThreadError) and cause is not None and not portable(cause)[0]:
        cause = StandInError(kind_of(cause), words_of(cause))
        of = error.thread if isinstance(error, ThreadError) else (error.reactor, error.reaction, error.tag)
        error = ThreadError(of, cause) if isinstance(of, str) else ReactionError(*of, cause)
    return told(Failure(error, None)), list(getattr(error, "__notes__", ()))


def unpacked(given: Packed) -> BaseException:
    """The same on another rank."""
    failed, notes = given
    error = failure_of(failed._replace(where="")).error
    error.__notes__ = notes
    return error


def note_place(error: BaseException, rank: int, host: str) -> None:
    """Add to an error where it happened, once."""
    note = f"on rank {rank}, host {host}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _nothing(*_: object) -> None: ...

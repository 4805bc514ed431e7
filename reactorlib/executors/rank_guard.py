"""The guard of one rank: a small process beside it that sees it die, and sees the other hosts go silent.

The guards of a job form a star around that of rank 0. Over it ranks send each other what is not of a tag, and learn
within moments that one of them is lost: whatever the rank itself is busy with, and also where a launcher kills all
ranks before one could say why. A guard reads no value, and is run as a file: it needs the standard library only.
"""

from __future__ import annotations

import marshal
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from struct import Struct
from time import monotonic, sleep, time

HEAD = Struct("<iBI")  # a rank, the kind of a frame, bytes that follow
# Kinds. MAIL: bytes to a rank, or from it. LEAD, JOIN: a process tells its guard what it is. PORT: where the first
# guard listens. READY: all are there. GONE: a guard on its process. LOST: the first that was, with its rank, and how in
# words; -1 where the first rank's guard knows nothing of it. BYE: the process leaves as it should. RAISED: it was told
# of a loss, and goes on by itself. KILL: end the process of a rank.
MAIL, LEAD, JOIN, PORT, READY, GONE, LOST, BYE, RAISED, KILL = range(10)
GRACE_S = 1.4  # for a process to raise the loss by itself
LEAVE_S = 0.4  # and to end, once it is about to; the same for its launcher
READ_S = 0.2  # of it for the launcher to read what the process has said
WAIT_S = GRACE_S + LEAVE_S  # for the first rank to say what is lost, and to end the job, as another would too soon
LAUNCHERS = ("hydra_pmi_proxy", "mpiexec", "mpiexec.hydra", "prted", "prterun", "orted", "mpirun")
WINDOW_S = 0.05  # in which the first of several losses is sought: a launcher ends the other ranks at once
CONNECT_S = 2.0
AGAIN_S = 0.1


class Line:
    """One stream of frames."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self._read = b""

    def send(self, rank: int, kind: int, payload: bytes = b"") -> None:
        """Append a frame. Raises OSError."""
        self.stream.sendall(HEAD.pack(rank, kind, len(payload)) + payload)

    def frames(self) -> list[tuple[int, int, bytes]]:
        """What has come, after waiting for it. EOFError: nothing comes any more. OSError: the link is broken."""
        data = self.stream.recv(1 << 20)
        if not data:
            raise EOFError
        self._read += data
        found, at = [], 0
        while len(self._read) - at >= HEAD.size:
            rank, kind, length = HEAD.unpack_from(self._read, at)
            if len(self._read) - at - HEAD.size < length:
                break
            at += HEAD.size + length
            found.append((rank, kind, self._read[at - length : at]))
        self._read = self._read[at:]
        return found


class Guard:
    """`process` leads to the rank's process, whose number is `pid`. Times in seconds."""

    def __init__(self, process: socket.socket, pid: int, start_s: float, link_s: float) -> None:
        self.process: Line | None = Line(process)
        self.pid = pid
        self.link_s = link_s
        self.deadline: float | None = monotonic() + start_s  # for all ranks to be there; after a loss for its process
        self.began = time()
        self.ready = False
        self.rank = -1
        self.names: list[str] = []  # of all ranks
        self.token = b""
        self.lines: dict[int, Line] = {}  # to other guards, by rank
        self.listening: socket.socket | None = None
        self.losses: list[tuple[float, int, str]] = []  # when, which rank, how
        self.decide: float | None = None  # when to choose the first of them
        self.lost: str | None = None
        self.leave_s = LEAVE_S
        self.is_cut_off = False  # a link is lost: launchers wait for the other end
        self.launchers = launchers_of(pid)
        self.aside = stderr_of(self.launchers[-1]) if self.launchers else None
        self.raised = False  # the process has raised it
        self.told = False  # and has left as it should, so that it was seen
        self.selector = selectors.DefaultSelector()
        self.selector.register(process, selectors.EVENT_READ, self._hear_process)

    def serve(self) -> None:
        """Until the process has ended."""
        while self.process is not None:
            pending = [t for t in (self.deadline, self.decide) if t is not None]
            ready = self.selector.select(max(0.0, min(pending) - monotonic()) if pending else None)
            for key, _ in ready:
                if self.process is not None:  # else nothing that comes matters
                    key.data()
            now = monotonic()
            if self.decide is not None and now >= self.decide:
                self._tell_first()
            if self.deadline is not None and now >= self.deadline:
                self._give_up()
        if self.decide is not None:
            sleep(max(0.0, self.decide - monotonic()))
            for line in list(self.lines):
                self._hear_guard(line, block=False)
            self._tell_first()
        if self.rank == 0 and self.lost is not None and not self.told:
            say(self.lost, self.aside)
        if self.is_cut_off and self.launchers:
            end(self.launchers[0])
        if not self.ready:
            sweep(self.began)

    def _give_up(self) -> None:
        self.deadline = None
        if not self.ready and self.lost is None:
            if os.environ.get("PMI_RANK", os.environ.get("PMIX_RANK", "0")) != "0":
                sleep(1)  # the first rank says it
            say(
                "not every rank came to run(executor='mpi') in time: see what the others said, and start scripts by "
                "`mpiexec ... python -m mpi4py script.py`, which ends the job when one of them fails"
            )
        kill(self.pid)

    # The process

    def _hear_process(self) -> None:
        assert self.process is not None
        try:
            frames = self.process.frames()
        except (EOFError, OSError):
            frames = [(self.rank, GONE, b"")]
        for rank, kind, payload in frames:
            self._do(rank, kind, payload)
            if self.process is None:  # it has said its last
                return

    def _do(self, rank: int, kind: int, payload: bytes) -> None:
        if kind in (MAIL, KILL):
            self._forward(self.rank, rank, kind, payload)
        elif kind == LEAD:
            self._lead(marshal.loads(payload))
        elif kind == JOIN:
            self._join(marshal.loads(payload))
        elif kind == RAISED:
            self.raised, self.deadline = True, None
        elif kind in (GONE, BYE):
            self._process_ended(kind, payload.decode() or "ended before the run did")

    def _process_ended(self, kind: int, how: str) -> None:
        assert self.process is not None
        if kind == BYE and self.lost is not None and not self.told:  # what follows may hang
            self.told, self.deadline = self.raised, monotonic() + self.leave_s
            return
        self.selector.unregister(self.process.stream)
        self.process = None
        if self.lost is not None:
            return
        if kind == BYE:
            for rank in self.lines:
                self._send(rank, self.rank, BYE)
            for line in self.lines.values():
                drain(line.stream)
        elif self.rank == 0:
            self._lose(0, how)
        elif self.lines:
            self._send(0, self.rank, GONE, marshal.dumps((time(), how)))

    def _deliver(self, rank: int, kind: int, payload: bytes = b"") -> None:
        if self.process is not None:
            with suppress(OSError):
                self.process.send(rank, kind, payload)

    # The star

    def _lead(self, what: dict[str, object]) -> None:
        self._begin(0, what)
        self.listening = socket.create_server(("", 0), backlog=len(self.names))
        self.selector.register(self.listening, selectors.EVENT_READ, self._accept)
        self._deliver(0, PORT, str(self.listening.getsockname()[1]).encode())
        self._look_ready()

    def _begin(self, rank: int, what: dict[str, object]) -> None:
        self.rank = rank
        self.names = list(what["names"])  # type: ignore[call-overload]
        self.token = str(what["token"]).encode()

    def _accept(self) -> None:
        assert self.listening is not None
        stream, _ = self.listening.accept()
        stream.settimeout(CONNECT_S)
        with suppress(OSError, ValueError):  # a stranger
            token, _, rank = receive_exactly(stream, len(self.token) + 9).partition(b" ")
            if token == self.token:
                stream.sendall(self.token[::-1])
                self._connected(int(rank), stream)
                self._look_ready()
                return
        stream.close()

    def _join(self, what: dict[str, object]) -> None:
        self._begin(int(str(what["rank"])), what)
        addresses, port = list(what["addresses"]), int(str(what["port"]))  # type: ignore[call-overload]
        greeting = self.token + b" %8d" % self.rank
        while self.deadline is not None and monotonic() < self.deadline:
            for address in addresses:
                with suppress(OSError):
                    stream = socket.create_connection((address, port), CONNECT_S)
                    stream.sendall(greeting)
                    if receive_exactly(stream, len(self.token)) == self.token[::-1]:
                        self._connected(0, stream)
                        return
                    stream.close()
            sleep(AGAIN_S)

    def _connected(self, rank: int, stream: socket.socket) -> None:
        stream.settimeout(None)
        watch(stream, self.link_s)
        self.lines[rank] = Line(stream)
        self.selector.register(stream, selectors.EVENT_READ, lambda: self._hear_guard(rank))

    def _look_ready(self) -> None:
        if len(self.lines) == len(self.names) - 1:
            self._become_ready()
            for rank in self.lines:
                self._send(rank, 0, READY)

    def _become_ready(self) -> None:
        self.ready, self.deadline = True, None
        self._deliver(0, READY)

    def _hear_guard(self, rank: int, block: bool = True) -> None:
        line = self.lines[rank]
        line.stream.setblocking(block)
        try:
            frames = line.frames()
        except BlockingIOError:
            return
        except EOFError:
            self._drop(rank)
            self._lose(rank, "is gone, with its guard")
            return
        except OSError as error:
            self._drop(rank)
            silent = f"sent no sign of life for {self.link_s:g} s" if error.errno is None else error.strerror
            self.is_cut_off = True
            self._lose(rank, f"cannot be reached: {silent}")
            return
        for number, kind, payload in frames:
            self._from_guard(rank, number, kind, payload)

    def _from_guard(self, source: int, rank: int, kind: int, payload: bytes) -> None:
        if kind == KILL and rank == self.rank:
            kill(self.pid)
        elif kind in (MAIL, KILL):
            if self.rank == 0:
                self._forward(source, rank, kind, payload)
            else:
                self._deliver(rank, kind, payload)
        elif kind == READY:
            self._become_ready()
        elif kind == BYE:
            if source in self.lines:
                self._drop(source)
            self._deliver(source, BYE)
        elif kind == GONE:
            when, how = marshal.loads(payload)
            self._drop(source)
            self._lose(source, how, when)
        elif kind == LOST:
            self._announce(payload.decode(), rank)

    def _forward(self, source: int, rank: int, kind: int, payload: bytes) -> None:
        """A frame from `source` to `rank`; from a guard but the first, its number is that of the receiver."""
        if self.rank != 0:
            self._send(0, rank, kind, payload)
        elif rank == 0:
            self._deliver(source, kind, payload)
        else:
            self._send(rank, rank if kind == KILL else source, kind, payload)

    def _send(self, rank: int, number: int, kind: int, payload: bytes = b"") -> None:
        if rank in self.lines:
            with suppress(OSError):  # who reads from it sees it
                self.lines[rank].send(number, kind, payload)

    def _drop(self, rank: int) -> None:
        line = self.lines.pop(rank)
        self.selector.unregister(line.stream)
        line.stream.close()

    # A loss

    def _lose(self, rank: int, how: str, when: float | None = None) -> None:
        if self.lost is None:
            self.losses.append((time() if when is None else when, rank, how))
            if self.decide is None:
                self.decide = monotonic() + WINDOW_S

    def _tell_first(self) -> None:
        self.decide = None
        (_, rank, how), *more = sorted(self.losses)
        text = f"{self.names[rank]} {how}"
        if more:  # the first may have been seen late
            text += f"; at once with it ended {', '.join(self.names[other] for _, other, _ in more)}"
        for other in list(self.lines):
            self._send(other, rank, LOST, text.encode())
        self._announce(text, rank if self.rank == 0 else -1)

    def _announce(self, text: str, rank: int) -> None:
        if self.lost is None:
            self.lost = text
            self.deadline = monotonic() + GRACE_S
            self.leave_s = WAIT_S if rank > 0 and self.rank > 0 else LEAVE_S
            self._deliver(rank, LOST, text.encode())


def watch(stream: socket.socket, limit_s: float) -> None:
    """Let the system look for a sign of life of the other end, which its system gives: after the limit it is gone."""
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    often = max(1, int(limit_s / 5))
    for name, value in (
        ("TCP_KEEPIDLE", often), ("TCP_KEEPINTVL", often), ("TCP_KEEPCNT", max(1, round(limit_s / often))),
        ("TCP_USER_TIMEOUT", round(limit_s * 1000)),
    ):  # fmt: skip
        if hasattr(socket, name):
            stream.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def receive_exactly(stream: socket.socket, count: int) -> bytes:
    """So many bytes. Raises OSError where there are none."""
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


def launchers_of(pid: int) -> list[int]:
    """The processes of an MPI's launcher that a process descends from, the nearest first; no scheduler is one."""
    found = []
    while pid > 1:
        name, parent = name_and_parent(pid)
        if name in LAUNCHERS:
            found.append(pid)
        pid = parent
    return found


def stderr_of(pid: int) -> int | None:
    """Where a process of the same user writes its errors; None where that cannot be opened."""
    with suppress(OSError):
        return os.open(f"/proc/{pid}/fd/2", os.O_WRONLY | os.O_APPEND | os.O_NOCTTY)
    return None


def name_and_parent(pid: int) -> tuple[str, int]:
    """Of a process that lives; "" and 0 for any other."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:  # noqa: PTH123
        before, _, after = stat.read().rpartition(")")
        state, parent = after.split()[:2]
        if state != "Z":
            return before.partition("(")[2], int(parent)
    return "", 0


def end(pid: int) -> None:
    """End a launcher that does not end by itself."""
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with suppress(OSError):
                os.kill(pid, number)
        until = monotonic() + LEAVE_S
        while monotonic() < until:
            if name_and_parent(pid)[0] not in LAUNCHERS:
                break
            sleep(0.02)
    from pathlib import Path  # late: a guard starts sooner without these
    from shutil import rmtree

    for kind in ("prte", "ompi"):  # what Open MPI's keep while they live
        for left in Path(os.environ.get("TMPDIR", "/tmp")).glob(f"{kind}*.{pid}"):
            rmtree(left, ignore_errors=True)


def sweep(since: float) -> None:
    """Unlink what ranks left that ended before all had met: MPICH's names go as all have it, Open MPI's as it ends."""
    sleep(LEAVE_S)
    mapped = b""
    for entry in os.scandir("/proc"):
        with suppress(OSError), open(f"{entry.path}/maps", "rb") as maps:  # noqa: PTH123
            mapped += maps.read() if entry.name.isdigit() else b""
    for entry in os.scandir("/dev/shm"):
        with suppress(OSError):
            found = entry.stat()
            is_ours = entry.name.startswith(("mpich_shm_", "sm_segment.")) and found.st_uid == os.getuid()
            if is_ours and since - 1 < found.st_mtime < time() - LEAVE_S / 2 and entry.name.encode() not in mapped:
                os.unlink(entry.path)  # noqa: PTH108


def drain(stream: socket.socket) -> None:
    """Let the other end read all that was sent: to close with something unread would discard it."""
    with suppress(OSError):
        stream.shutdown(socket.SHUT_WR)
        stream.settimeout(LEAVE_S)
        while stream.recv(1 << 16):
            pass


def kill(pid: int) -> None:
    """End a process, if it lives."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def say(text: str, aside: int | None = None) -> None:
    """One line on standard error, in one piece; where nobody reads that any more, `aside`."""
    line = f"reactorlib: {text}\n".encode()
    try:
        os.write(2, line)
    except OSError:
        if aside is not None:
            with suppress(OSError):
                os.write(aside, line)


def main() -> None:
    """Arguments: descriptor of the socket to the process, its number, limits for start and links in seconds."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    descriptor, pid = int(sys.argv[1]), int(sys.argv[2])
    Guard(socket.socket(fileno=descriptor), pid, float(sys.argv[3]), float(sys.argv[4])).serve()


if __name__ == "__main__":
    main()

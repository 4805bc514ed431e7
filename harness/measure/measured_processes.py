"""A subject of a measurement: processes of its own below a supervisor, which run in their turns only.

Owns these processes from start to end. Their failures are SubjectErrors, whose text is one line.

Between turns a subject's program blocks in a read. Some processes use a processor all the same: actors of Ray's
compiled graphs poll for the next message, agents look for news. CPU time shows it. Then all processes of the subject
are stopped between turns, but never Ray's own daemons, which take a stopped peer for a dead one. Processes
that spin and are resumed all at once take long to share the processors as before.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import connection
from pathlib import Path
from typing import Any, Self

import psutil

from harness.measure import processes
from harness.measure.turn import Turn
from harness.store.status import UNSUPPORTED, one_line
from workloads import outside
from workloads.ray_styles import THREAD_LIMITS, is_setting

OWN_TREE = Path(__file__).resolve().parents[2]
# On every backend alike, numeric libraries get one thread per worker. The C library keeps freed memory, as reactors do:
# else it gives that of large arrays back after each round. It ignores a second number above 32 MiB.
WORKER_VARIABLES = {
    **THREAD_LIMITS,
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "PYTHONHASHSEED": "0",
}
_GRACE_SECONDS = 30.0  # for a supervisor to clean up, in all
_LONGEST_POLL_SECONDS = 2_000_000.0  # 23 days; `poll` takes no more than 2**31 - 1 ms
# So the scratch directory has at most 24, as `ray_session` asks of the one in which it makes its own.
_SCRATCH_PARENT_CHARACTERS = 12
# A process that takes more of a core than this while its subject waits is busy; a subject that takes so much spins.
_BUSY_SHARE = 0.005
_SPINNING_SHARE = 0.5
_LOOK_SECONDS = 0.1
# A look is longer if a process was kept waiting for more than this part of it.
_CROWDED_SHARE = 0.25
_CROWDED_LOOK_NS = 1_000_000_000
_LONGEST_LOOK_SECONDS = 8.0  # at young processes


class SubjectError(RuntimeError):
    """A subject that cannot be measured, or not any longer; the text is the reason in one line."""


@dataclass(frozen=True)
class Subject:
    """A program to measure. `name`: unique in its block. `order`: for its process (see `side`). `tree`: the code.

    `matched`: its digest must equal that of the block's other matched ones. `pinned`: lives through its whole block,
    even if memory has room for a part of the others only. `on_one_cpu`: it computes in one thread that never waits.
    All such subjects take the turns of a sweep on one CPU. The CPU changes from sweep to sweep, because CPUs may
    differ in speed. They are compared by CPU time, in which other processes don't count. `kept`: its process stays
    for the next subject of this name (see `kept`). `interpreter`: its path.
    """

    name: str
    order: Mapping[str, Any]
    tree: Path = OWN_TREE
    matched: bool = False
    pinned: bool = True
    on_one_cpu: bool = False
    kept: bool = False
    interpreter: str = sys.executable


def workload_order(
    workload: str, backend: str, parameters: Mapping[str, Any], verify_rounds: int = 0, **options: Any
) -> dict[str, Any]:
    """The order to run a workload on a backend. `options`: of its `run`, beside the backend's own."""
    order: dict[str, Any] = {"workload": workload, "backend": backend, "parameters": dict(parameters)}
    return order | {"verify_rounds": verify_rounds, "options": options, "outside": dict(outside.PLACES)}


@dataclass
class Running:
    """A subject's processes. A context manager; at its end none of them is left.

    `limit_s`: for each thing that the subject is asked, the start included. A turn with a lead has two rounds at least,
    and twice the limit. `log`: the file in which the processes print, None to drop it.
    """

    subject: Subject
    log: Path | None
    limit_s: float
    # CPU time by process, and the clock, at the end of the last turn.
    _last: tuple[dict[int, int], int] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        self._pending, self.spins = b"", False
        self._parked: list[processes.Handle] = []
        self.pids: list[int] = []
        self.forget_idling()
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            scratch = Path(stack.enter_context(_scratch()))
            log = stack.enter_context(Path(self.log or os.devnull).open("wb"))
            self._channel, theirs = socket.socketpair()
            stack.callback(self._channel.close)
            with theirs:
                self._supervisor = subprocess.Popen(
                    [sys.executable, "-m", "harness.measure.supervisor"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=environment(OWN_TREE, scratch),
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,  # the terminal's Ctrl-C is for the harness, which then ends the subject
                )
                stack.callback(self._end)
                assert self._supervisor.stdin
                assert self._supervisor.stdout
                self._watched = self._channel.fileno(), self._supervisor.stdout.fileno()
                order = {
                    "side": {**self._order(), "channel": theirs.fileno()},
                    "environment": {"PYTHONPATH": environment(self.subject.tree, scratch)["PYTHONPATH"]},
                    "scratch": str(scratch),
                    "interpreter": self.subject.interpreter,
                    # Ray's actors look for modules in the working directory first.
                    "directory": None if self.subject.tree == OWN_TREE else str(self.subject.tree),
                }
                with contextlib.suppress(BrokenPipeError):
                    self._supervisor.stdin.write(json.dumps(order).encode() + b"\n")
                    self._supervisor.stdin.flush()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def end_program(self) -> None:
        """End the program between two turns, and keep the process that ran it."""
        self._tell_parked(signal.SIGCONT)
        while self._parked:
            self._parked.pop().close()
        self._tell({"end": True})
        self._answer(self.limit_s)

    @property
    def has_ended(self) -> bool:
        """Whether the process ended while nothing was asked of it."""
        return bool(_readable(self._watched, time.monotonic()))

    def run_another(self, subject: Subject) -> None:
        """Have the process run another program of the same name, as if it had been started for it."""
        self.subject, self.spins = subject, False
        self._tell(self._order())

    def _order(self) -> dict[str, Any]:
        return {**self.subject.order, "tree": str(self.subject.tree)}

    def _tell(self, order: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # its end is found when the answer is read
            self._channel.sendall(json.dumps(order).encode() + b"\n")

    def settle(self) -> dict[str, Any]:
        """Wait until it is ready for its first turn; its answer."""
        told = self._answer(self.limit_s)
        self.look()
        return told

    def ask(self) -> Any:
        return self._answer(self.limit_s)["answer"]

    def turn(self, turn_ns: int, lead_ns: int) -> Turn:
        """Have it run for a turn, and wait for the end."""
        before, began = self.cpu_ns(), time.perf_counter_ns()
        if self._last is not None:
            self._idle_cpu_ns += processes.used_ns(self._last[0], before)
            self._idle_wall_ns += began - self._last[1]
        self._tell_parked(signal.SIGCONT)
        self._tell({"turn_ns": turn_ns, "lead_ns": lead_ns})
        told = self._answer(2 * self.limit_s if lead_ns else self.limit_s)
        self._tell_parked(signal.SIGSTOP)
        after = self.cpu_ns()
        self._last = after, time.perf_counter_ns()
        cpu_ns = told["cpu_ns"]
        if not self.subject.on_one_cpu:  # other processes compute as well
            cpu_ns = processes.used_ns(before, after) * told["rounds"] // told["all_rounds"]
        durations = dict(zip(*told["durations"], strict=True)) if "durations" in told else {}
        return Turn(told["rounds"], told["wall_ns"], cpu_ns, durations)

    def forget_idling(self) -> None:
        """Begin to count the CPU time used between turns."""
        self._idle_cpu_ns = self._idle_wall_ns = 0
        self.rest()

    def confine(self, cpu: int) -> None:
        for pid in self.pids:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(pid, {cpu})

    def rest(self) -> None:
        """Leave the time until the next turn out of the count: the engine looked at the processes."""
        self._last = None

    def _tell_parked(self, number: signal.Signals) -> None:
        for process in self._parked:
            process.send(number)

    def look(self) -> None:
        with contextlib.suppress(OSError, psutil.Error):
            self.pids = processes.descendants(self._supervisor.pid)

    def park(self) -> None:
        """From now on stop the processes between turns, if one of them keeps a processor busy there."""
        give_up = time.monotonic() + _LONGEST_LOOK_SECONDS
        while True:
            self.look()
            shares = {pid: share for pid, share in self._busy_shares().items() if processes.may_be_parked(pid)}
            if not any(processes.is_young(pid) for pid in shares) or time.monotonic() > give_up:
                break
        self.spins = sum(shares.values()) > _SPINNING_SHARE
        for pid in filter(processes.may_be_parked, self.pids if shares else ()):
            with contextlib.suppress(OSError, psutil.Error):  # it ended, or no descriptor is left
                self._parked.append(processes.Handle(pid))
        self._tell_parked(signal.SIGSTOP)

    def _busy_shares(self) -> dict[int, float]:
        """How much of a core each process that is busy takes while it isn't kept waiting for one."""
        before, waited_before, began = self.cpu_ns(), processes.waited_ns(self.pids), time.perf_counter_ns()
        while True:
            time.sleep(_LOOK_SECONDS)
            after, waited, wall_ns = self.cpu_ns(), processes.waited_ns(self.pids), time.perf_counter_ns() - began
            kept_ns = {  # the longest time that a thread was kept waiting
                pid: max((ns - waited_before[pid].get(thread, 0) for thread, ns in threads.items()), default=0)
                for pid, threads in waited.items()
            }
            if wall_ns >= _CROWDED_LOOK_NS or max(kept_ns.values(), default=0) < _CROWDED_SHARE * wall_ns:
                break
        shares = {
            pid: share_of_core(used - before.get(pid, used), wall_ns, kept_ns.get(pid, 0))
            for pid, used in after.items()
        }
        return {pid: share for pid, share in shares.items() if share > _BUSY_SHARE}

    @property
    def parked(self) -> int:
        """How many processes are stopped between turns."""
        return len(self._parked)

    @property
    def idle_share(self) -> float:
        """How much of a core its processes have used between their turns."""
        return self._idle_cpu_ns / self._idle_wall_ns if self._idle_wall_ns else 0.0

    def cpu_ns(self) -> dict[int, int]:
        """CPU time that each of its living processes has used."""
        return processes.cpu_ns(self.pids)

    def held_bytes(self) -> int:
        return processes.resident_bytes(self.pids)

    def _answer(self, limit_s: float) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._line(limit_s))
        if "error" in told:
            raise SubjectError(str(told["error"]))
        if "unsupported" in told:
            raise SubjectError(one_line(f"{UNSUPPORTED}{told['unsupported']}"))
        return told

    def _line(self, limit_s: float) -> bytes:
        """The next line on the channel. Raises SubjectError if the process has ended."""
        give_up = time.monotonic() + limit_s
        while b"\n" not in self._pending:
            ready = _readable(self._watched, give_up)
            if not ready:
                raise SubjectError(f"time limit: no result after {limit_s:g} s")
            chunk = b""
            if self._channel.fileno() in ready:
                with contextlib.suppress(ConnectionResetError):  # it ended and left an order unread
                    chunk = self._channel.recv(65536)
            if not chunk:
                raise SubjectError(self._ended())
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _ended(self) -> str:
        """The way in which it ended, from the supervisor's last line. That line comes when all processes have ended."""
        answer, descriptor, give_up = b"", self._watched[1], time.monotonic() + _GRACE_SECONDS
        while _readable([descriptor], give_up) and (chunk := os.read(descriptor, 65536)):
            answer += chunk
        if not answer.endswith(b"\n"):
            return "the subject's supervisor died"
        status = json.loads(answer)["exit_status"]
        if status is not None and status < 0:
            name = next((one.name for one in signal.Signals if one == -status), f"signal {-status}")
            return f"killed by {name}" + (" (out of memory?)" if -status == signal.SIGKILL else "")
        return one_line(f"exited with status {status} before reporting a result")

    def _end(self) -> None:
        supervisor = self._supervisor
        with _signals_held():
            try:
                # It closes standard input first, which the supervisor takes for the engine's end.
                supervisor.communicate(timeout=_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(supervisor.pid, signal.SIGKILL)
                supervisor.communicate()
            for process in self._parked:  # a killed supervisor has ended none, and they are stopped
                process.send(signal.SIGKILL)
                process.close()


def share_of_core(used_ns: int, wall_ns: int, waited_ns: int) -> float:
    """The part of a core that a process takes while it isn't kept waiting for one. A process that never sleeps takes a
    whole one, however many others run.
    """
    return used_ns / max(wall_ns - waited_ns, wall_ns / 100)


def _readable(descriptors: Iterable[int], give_up: float) -> list[Any]:
    """The descriptors that can be read or are at their end; none if the clock reaches `give_up` before."""
    left_s = max(0.0, give_up - time.monotonic())
    return connection.wait(descriptors, min(left_s, _LONGEST_POLL_SECONDS))


def environment(tree: Path, scratch: Path) -> dict[str, str]:
    """The environment of a process that measures a tree."""
    # Without the user's settings of Ray, such as another cluster: each style of session sets its own.
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    paths = dict.fromkeys([str(tree), str(OWN_TREE), *given])
    temporary = {"TMPDIR": str(scratch), "RAY_TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(paths)}
    return kept | WORKER_VARIABLES | temporary


def call(function: str, arguments: list[Any], limit_s: float) -> Any:
    """The result of "module:function" in a fresh process under a supervisor. Raises SubjectError. Keeps no log."""
    subject = Subject(function, {"call": function, "arguments": arguments})
    with Running(subject, None, limit_s) as running:
        return running.ask()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Keep a second Ctrl-C from cutting the cleaning short, which is bounded in time."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A directory for everything temporary of one subject, Ray's session included."""
    parent = "/tmp" if len(tempfile.gettempdir()) > _SCRATCH_PARENT_CHARACTERS else None
    return tempfile.TemporaryDirectory(prefix="rb-", dir=parent, ignore_cleanup_errors=True)

"""Process trees: who belongs to one, what it uses, how it ends without a trace. Linux first, else POSIX.

Ray's raylet and store die with their driver, but its actors and agents become orphans and live on for a
while, and a process group doesn't hold them: each actor leads its own. A subreaper adopts them instead, so
that whatever a trial started stays below the trial's supervisor and can be found there.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

_PR_SET_CHILD_SUBREAPER = 36
_ROLLUP = "/proc/{}/smaps_rollup"  # since Linux 4.14


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent dies. Linux only, else no effect."""
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({_PR_SET_CHILD_SUBREAPER})")


def descendants() -> list[int]:
    """Process ids of everything below this process."""
    return [process.pid for process in psutil.Process().children(recursive=True)]


def cpu_ns(pids: Iterable[int]) -> dict[int, int]:
    """CPU time, user and system, that each living process has used since it began, in ns."""
    used = {}
    for pid in pids:
        try:
            used[pid] = _cpu_ns(pid)
        except (OSError, psutil.Error):
            continue  # it ended in the meantime
    return used


def _cpu_ns(pid: int) -> int:
    if sys.platform == "linux":
        # The kernel's clock of another process (clock_getcpuclockid(3)): exact, where /proc counts ticks of
        # 10 ms.
        return time.clock_gettime_ns((~pid << 3) | 2)
    times = psutil.Process(pid).cpu_times()
    return int((times.user + times.system) * 1e9)


def waited_ns(pids: Iterable[int]) -> dict[int, dict[int, int]]:
    """How long each thread of each living process has waited for a processor since it began, in ns, by process and
    thread; no threads where the system doesn't say.
    """
    return {pid: dict(_waited_ns(pid)) for pid in pids}


def _waited_ns(pid: int) -> Iterator[tuple[int, int]]:
    with contextlib.suppress(OSError):  # it ended in the meantime
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                _, waited, _ = (thread / "schedstat").read_bytes().split()
                yield int(thread.name), int(waited)


class Handle:
    """A process, to which signals are sent: to it alone, also where its number has gone to another since then. Many of
    them in short time, where the kernel has handles itself: psutil looks in /proc before each.

    Raises OSError or psutil.Error where there is no such process, or it cannot be looked at. Of the descriptors that
    this process may have, handles take the lower half at most: the others are for whoever else opens something.
    """

    def __init__(self, pid: int) -> None:
        self._process, self._descriptor = psutil.Process(pid), -1
        with contextlib.suppress(OSError, AttributeError):
            self._descriptor = os.pidfd_open(pid)
        if self._descriptor >= _most_descriptors() // 2:  # the lowest that was free
            self.close()

    def close(self) -> None:
        """Let go of it; psutil tells it from others all the same."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def send(self, number: signal.Signals) -> None:
        """Nothing happens where it has ended."""
        with contextlib.suppress(OSError, psutil.Error):
            if self._descriptor >= 0:
                signal.pidfd_send_signal(self._descriptor, number)
            else:
                self._process.send_signal(number)


def _most_descriptors() -> int:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if most == resource.RLIM_INFINITY else most


def resident_bytes(pids: Iterable[int]) -> int:
    """Memory that the processes hold together, each shared page counted once.

    The sum of their proportional set sizes; of resident set sizes, which count shared pages in every process,
    where the system has nothing better.
    """
    total = 0
    for pid in pids:
        try:
            total += _proportional_bytes(pid)
        except (OSError, psutil.Error):
            continue  # it ended in the meantime, or is about to
    return total


def _proportional_bytes(pid: int) -> int:
    rollup = Path(_ROLLUP.format(pid))
    if rollup.exists():
        for line in rollup.read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return int(psutil.Process(pid).memory_info().rss)


def stop_descendants() -> None:
    """Hold everything below this process where it is, so that it can be looked at and makes nothing more meanwhile."""
    stopped: set[int] = set()
    while new := set(descendants()) - stopped:
        for pid in new:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stopped |= new


def end_descendants(limit_s: float = 10.0) -> int:
    """Kill everything below this process, also what is started or orphaned meanwhile; returns how many.

    Raises TimeoutError when some cannot be killed within the limit.
    """
    killed: set[int] = set()
    give_up = time.monotonic() + limit_s
    while True:
        _reap()
        alive = descendants()
        if not alive:
            return len(killed)
        for pid in alive:
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if time.monotonic() > give_up:
            raise TimeoutError(f"processes {alive} survive SIGKILL")
        time.sleep(0.01)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass  # none left

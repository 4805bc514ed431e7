"""Process trees on Linux: the processes that belong to one, what they use, and their end without a trace.

Ray's raylet and store die with their driver, but its actors and agents become orphans and live on for a while. A
process group doesn't hold them, because each actor leads its own. A subreaper adopts them instead, so that whatever a
trial started stays below the trial's supervisor and can be found there.
"""

import contextlib
import ctypes
import os
import resource
import signal
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

_PR_SET_CHILD_SUBREAPER = 36
# A younger process may be busy because it starts.
_GROWN_SECONDS = 2.5
_NEVER_PARKED = ("raylet", "gcs_server")


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent dies."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({_PR_SET_CHILD_SUBREAPER})")


def descendants(pid: int | None = None) -> list[int]:
    """Process ids of everything below a process, by default this one."""
    return [process.pid for process in psutil.Process(pid).children(recursive=True)]


def cpu_ns(pids: Iterable[int]) -> dict[int, int]:
    """CPU time, user and system, that each living process has used since it began, in ns."""
    used = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended in the meantime
            # The kernel's clock of another process (clock_getcpuclockid(3)) is exact. /proc counts ticks of 10 ms.
            used[pid] = time.clock_gettime_ns((~pid << 3) | 2)
    return used


def used_ns(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    """CPU time between two looks, of the processes that both have seen."""
    return sum(after[pid] - before[pid] for pid in before.keys() & after.keys())


def waited_ns(pids: Iterable[int]) -> dict[int, dict[int, int]]:
    """How long each thread of each living process has waited for a processor since it began, in ns, by process and
    thread. No threads where the kernel keeps no such statistics.
    """
    waited: dict[int, dict[int, int]] = {pid: {} for pid in pids}
    for pid, threads in waited.items():
        with contextlib.suppress(OSError):  # it ended in the meantime
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    _, ns, _ = (thread / "schedstat").read_bytes().split()
                    threads[int(thread.name)] = int(ns)
    return waited


def may_be_parked(pid: int) -> bool:
    """Whether a process is none of Ray's daemons, which neither are stopped nor have others stopped."""
    with contextlib.suppress(OSError, psutil.Error):
        return psutil.Process(pid).name() not in _NEVER_PARKED
    return False


def is_young(pid: int) -> bool:
    """Whether a process may be busy only because it starts."""
    with contextlib.suppress(OSError, psutil.Error):
        return time.time() - psutil.Process(pid).create_time() < _GROWN_SECONDS
    return False


class Handle:
    """A process, to which signals are sent: to it alone, even if its number has gone to another process since then.

    The kernel's handles are fast; psutil looks in /proc before each signal. They take the lower half of the descriptors
    that this process may have; processes beyond that have psutil's. Raises OSError or psutil.Error if the process does
    not exist or cannot be looked at.
    """

    def __init__(self, pid: int) -> None:
        self._process, self._descriptor = psutil.Process(pid), -1
        with contextlib.suppress(OSError):
            self._descriptor = os.pidfd_open(pid)
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)  # never infinite on Linux
        if self._descriptor >= most // 2:  # the lowest that was free
            self.close()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def send(self, number: signal.Signals) -> None:
        """Send a signal. Nothing happens if the process has ended."""
        with contextlib.suppress(OSError, psutil.Error):
            if self._descriptor >= 0:
                signal.pidfd_send_signal(self._descriptor, number)
            else:
                self._process.send_signal(number)


def resident_bytes(pids: Iterable[int]) -> int:
    """Memory that the processes hold together, each shared page counted once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, psutil.Error):  # it ended in the meantime, or is about to
            total += psutil.Process(pid).memory_full_info().pss
    return total


def stop_descendants() -> None:
    """Stop everything below this process, so that it can be looked at and makes nothing more meanwhile."""
    stopped: set[int] = set()
    while new := set(descendants()) - stopped:
        for pid in new:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stopped |= new


def end_descendants(limit_s: float = 10.0) -> None:
    """Kill everything below this process, also processes that are started or orphaned meanwhile.

    Raises TimeoutError when some cannot be killed within the limit.
    """
    give_up = time.monotonic() + limit_s
    while True:
        with contextlib.suppress(ChildProcessError):  # none left
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        alive = descendants()
        if not alive:
            return
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > give_up:
            raise TimeoutError(f"processes {alive} survive SIGKILL")
        time.sleep(0.01)

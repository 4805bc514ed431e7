"""One trial's supervisor: `python -m harness.supervisor`, between the harness and the worker that measures.

Owns the trial's processes, from outside: it starts the worker, adopts whatever the worker's descendants leave
behind, samples their memory, ends them all when the trial ends, runs over its time or loses its harness
(whose end of the pipe on standard input closes, however the harness died), and removes what they left on disk
and in shared memory. It measures no time and computes nothing.

Standard input: one line of JSON, the order; then nothing until it closes. Standard output: one line of JSON,
the `Verdict`. Standard error: the trial's log, shared with the worker.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import psutil

from harness import processes
from workloads.shared_memory import Names

RESULT_NAME = "result.json"
_SAMPLE_SECONDS = 0.25
# A sample may take at most this part of the time: reading page tables must not become part of what is
# measured.
_SAMPLE_SHARE = 0.02


@dataclass(frozen=True)
class Verdict:
    """How a trial's processes ended.

    `exit_status`: the worker's, negative for a signal, None where it was killed for `reason` ("time limit",
    "harness gone"). `result`: what the worker reported, or None. `peak_bytes`: the most memory that the whole
    tree held in any sample. `outside_cores`: how many cores were kept busy by processes that are none of the
    trial's. `stragglers`: processes still alive when the worker had ended.
    """

    exit_status: int | None
    reason: str
    result: dict[str, Any] | None
    peak_bytes: int
    outside_cores: float
    stragglers: int


def main() -> int:
    """Run one trial as the order on standard input says."""
    order = json.loads(_read_line(0))
    scratch = Path(order["scratch"])
    processes.adopt_orphans()
    try:
        verdict = _supervise(order["worker"], scratch, order["time_limit_s"])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    with contextlib.suppress(BrokenPipeError):  # the harness is gone, there is nobody to tell
        os.write(1, json.dumps(asdict(verdict)).encode() + b"\n")
    return 0


def _read_line(descriptor: int) -> bytes:
    # Byte by byte, because what a buffered reader swallowed would hide the end of the file from the selector.
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            raise EOFError("the harness closed the pipe before it gave an order")
        line += byte
    return line


def _supervise(worker_order: dict[str, Any], scratch: Path, time_limit_s: float) -> Verdict:
    began = time.monotonic()
    busy_began = _busy_seconds()
    names = Names()
    with _Wakeup() as wakeup:
        worker = subprocess.Popen(
            [sys.executable, "-m", "harness.worker"], stdin=subprocess.PIPE, stdout=sys.stderr.fileno()
        )
        peak, reason, meter = 0, "", _Meter(names)
        try:
            _order(worker, {**worker_order, "result_path": str(scratch / RESULT_NAME)})
            peak, reason = _watch(worker, wakeup, began + time_limit_s, meter)
        finally:
            processes.stop_descendants()  # a name made between the last look and the end would stay
            meter.read()
            stragglers = processes.end_descendants()
            names.remove()
    duration_s = time.monotonic() - began
    result = _result(scratch / RESULT_NAME)
    meter.learn((result or {}).pop("used_ns", {}))
    used = max(resource_seconds(), meter.seconds())
    return Verdict(
        exit_status=None if reason else worker.wait(),
        reason=reason,
        result=result,
        peak_bytes=peak,
        outside_cores=max(0.0, (_busy_seconds() - busy_began - used) / duration_s),
        stragglers=stragglers,
    )


def _order(worker: subprocess.Popen[bytes], order: dict[str, Any]) -> None:
    assert worker.stdin is not None
    with contextlib.suppress(BrokenPipeError), worker.stdin as pipe:  # a worker that died has its exit status
        pipe.write(json.dumps(order).encode() + b"\n")


def _watch(worker: subprocess.Popen[bytes], wakeup: "_Wakeup", deadline: float, meter: "_Meter") -> tuple[int, str]:
    peak, next_sample = 0, time.monotonic() + _SAMPLE_SECONDS
    while worker.poll() is None:
        now = time.monotonic()
        if now >= deadline:
            return peak, "time limit"
        if now >= next_sample:
            peak = max(peak, processes.resident_bytes(meter.read()))
            cost = time.monotonic() - now
            next_sample = now + max(_SAMPLE_SECONDS, cost / _SAMPLE_SHARE)
        if wakeup.wait(min(deadline, next_sample) - time.monotonic()):
            return peak, "harness gone"
    return peak, ""


class _Meter:
    """What has to be seen of descendants while they live: the CPU time they had used when they were last seen, which
    their parents may drop when they end, and the names they made in shared memory.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._used_ns: dict[int, int] = {}

    def read(self) -> list[int]:
        """Look at all descendants that live; who they are."""
        living = processes.descendants()
        self._used_ns |= processes.cpu_ns(living)
        self._names.look(living)
        return living

    def learn(self, used_ns: dict[str, int]) -> None:
        """What the worker saw after its last round, before it ended its processes: later than most looks of ours."""
        for pid, used in used_ns.items():
            self._used_ns[int(pid)] = max(used, self._used_ns.get(int(pid), 0))

    def seconds(self) -> float:
        """What all of them used, and this process."""
        own = os.times()
        return own.user + own.system + sum(self._used_ns.values()) / 1e9


class _Wakeup:
    """Waits for whatever comes first: a child's death, a request to end, the harness's end, or the time."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        for descriptor in (self._reader, self._writer):
            os.set_blocking(descriptor, False)
        self._ended = False

    def __enter__(self) -> Self:
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ)
        self._selector.register(self._reader, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)
        return self

    def __exit__(self, *exception: object) -> None:
        signal.set_wakeup_fd(-1)
        self._selector.close()

    def _end(self, *_: object) -> None:
        self._ended = True

    def wait(self, seconds: float) -> bool:
        """Wait for at most so long; whether the trial has to end."""
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fd == 0:
                return not os.read(0, 1)
            with contextlib.suppress(BlockingIOError):
                os.read(self._reader, 4096)
        return self._ended


def _busy_seconds() -> float:
    times = psutil.cpu_times()._asdict()
    idle = ("idle", "iowait", "guest", "guest_nice")  # guest time is part of user time as well
    return float(sum(seconds for name, seconds in times.items() if name not in idle))


def resource_seconds() -> float:
    """CPU time of this process and of all descendants that have ended."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


def _result(path: Path) -> dict[str, Any] | None:
    try:
        result: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return result


if __name__ == "__main__":
    sys.exit(main())

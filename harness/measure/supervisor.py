"""A subject's supervisor: `python -m harness.measure.supervisor`, between the engine and the process that measures.

Owns the subject's processes, from outside. It starts the one that measures, and adopts the orphans of its descendants.
It ends all of them when that one ends, or when the engine closes standard input, be it by dying. It removes what they
left on disk and in shared memory. It measures nothing, and sleeps until then.

Standard input carries the order, one line of JSON. Standard output carries one line of JSON with the `exit_status` of
the process that measures. It is negative for a signal, and null if the engine's end caused it. Standard error is the
subject's log, shared with the process that measures.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness.measure import processes
from workloads.shared_memory import Names

# The first look for names in shared memory, and the longest pause: frequent looks would disturb measurements.
_FIRST_LOOK_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 60.0
_REQUESTS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def main() -> int:
    """Run one subject as the order on standard input says."""
    order = json.loads(_read_line(0))
    processes.adopt_orphans()
    try:
        status = _supervise(order)
    finally:
        shutil.rmtree(Path(order["scratch"]), ignore_errors=True)
    with contextlib.suppress(BrokenPipeError):  # the engine is gone, there is nobody to tell
        os.write(1, json.dumps({"exit_status": status}).encode() + b"\n")
    return 0


def _read_line(descriptor: int) -> bytes:
    # Byte by byte, because a buffered reader would hide the end of the file from the selector.
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            raise EOFError("the engine closed the pipe before it gave an order")
        line += byte
    return line


def _supervise(order: dict[str, Any]) -> int | None:
    """Run the subject to its end; how the process that measures ended."""
    channel, names, signals = order["side"]["channel"], Names(), _signals()
    worker = subprocess.Popen(
        [order["interpreter"], "-P", "-m", "harness.measure.side"],
        stdin=subprocess.PIPE,
        stdout=sys.stderr.fileno(),
        env={**os.environ, **order["environment"]},
        pass_fds=(channel,),
        cwd=order["directory"],
    )
    os.close(channel)
    assert worker.stdin is not None
    pause_s = _FIRST_LOOK_SECONDS
    due = time.monotonic() + pause_s
    try:
        with contextlib.suppress(BrokenPipeError), worker.stdin as pipe:  # a worker that died has its exit status
            pipe.write(json.dumps(order["side"]).encode() + b"\n")
        while worker.poll() is None and not _is_asked_to_end(signals, max(0.0, due - time.monotonic())):
            if time.monotonic() >= due:  # and no child has ended, of which Ray's start has dozens
                names.look(processes.descendants())
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_SECONDS)
                due = time.monotonic() + pause_s
    finally:
        processes.stop_descendants()  # a name made between the last look and the end would stay
        names.look(processes.descendants())
        processes.end_descendants()
        names.remove()
    return worker.returncode  # still None if the subject had to end


def _signals() -> int:
    """A descriptor that tells of a child's death, and of a request to end, by the numbers of the signals."""
    reader, writer = os.pipe()
    for descriptor in (reader, writer):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_REQUESTS):
        signal.signal(number, lambda *_: None)
    return reader


def _is_asked_to_end(signals: int, limit_s: float) -> bool:
    """Wait for a signal or the engine's end, up to a limit; whether the subject has to end."""
    ready, _, _ = select.select([0, signals], [], [], limit_s)
    if 0 in ready:
        return not os.read(0, 1)
    return signals in ready and not _REQUESTS.isdisjoint(os.read(signals, 4096))


if __name__ == "__main__":
    sys.exit(main())

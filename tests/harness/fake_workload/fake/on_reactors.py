"""The fake workload, misbehaving on request."""

import os
import signal
import subprocess
import sys
import time

from workloads.parameter import UnsupportedError

_KEEP = """
import mmap, os, sys, time
descriptor = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.ftruncate(descriptor, 4096)
view = mmap.mmap(descriptor, 4096)
print("mapped", flush=True)
time.sleep(1000)
"""


def run(task, probe, *, executor, workers=None):
    """Count, or don't."""
    if task.behaviour == "raises":
        raise RuntimeError("told to\nraise")
    if task.behaviour == "refuses":
        raise UnsupportedError("told to\nrefuse")
    if task.behaviour == "breaks_once" and not os.path.exists(task.file):  # noqa: PTH110
        os.close(os.open(task.file, os.O_CREAT))
        raise RuntimeError("not yet")
    if task.behaviour == "exits":
        os._exit(3)
    if task.behaviour == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if task.behaviour == "orphans":
        _leave_orphan(task.file)
    probe.state(task.count(probe, offset=task.behaviour == "wrong"))


def _leave_orphan(file):
    # In a session of its own, and the child of a shell that has ended: no process group holds it.
    command = f'"{sys.executable}" -c "$0" "$1" & wait_for=$!; sleep 0.1'
    subprocess.run(["sh", "-c", command, _KEEP, file], start_new_session=True, check=True, stdout=2)
    while not os.path.exists(file):  # noqa: PTH110
        time.sleep(0.01)

"""The resources that a process tree uses and leaves, on real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.measure import processes
from tests.harness.measure.fake_run import wait_until

_BURN = "import time; print('ready', flush=True)\nwhile time.process_time() < 60: pass"


@pytest.fixture
def child():
    """Starts a Python child that has said it is ready."""
    started = []

    def start(code):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=30)


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system doesn't say")
def test_each_thread_of_two_processes_on_one_cpu_waits_for_it(child):
    code = f"import threading; threading.Thread(target=threading.Event().wait, daemon=True).start(); {_BURN}"
    pids = [child(code).pid, child(code).pid]
    for pid in pids:
        os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})
    wait_until(lambda: min(threads[pid] for pid, threads in processes.waited_ns(pids).items()) >= 20_000_000)
    assert all(len(threads) == 2 for threads in processes.waited_ns(pids).values())


def test_memory_is_that_of_a_python_process_and_one_that_has_ended_is_left_out(child):
    ended = child(_BURN)
    assert 2**20 < processes.resident_bytes([ended.pid]) <= psutil.Process(ended.pid).memory_info().rss
    ended.kill()
    ended.wait(30)
    assert processes.cpu_ns([ended.pid]) == {}
    assert processes.waited_ns([ended.pid]) == {ended.pid: {}}
    assert processes.resident_bytes([ended.pid]) == 0


def test_handles_leave_half_of_the_descriptors_to_others_and_reach_their_processes_all_the_same(child, monkeypatch):
    ended, stopped = child(_BURN), child(_BURN)
    free = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
    for descriptor in free:
        os.close(descriptor)
    monkeypatch.setattr(processes.resource, "getrlimit", lambda _: (2 * free[2], 2 * free[2]))
    handles = [processes.Handle(process.pid) for process in [ended, stopped] * 5]
    assert os.open(os.devnull, os.O_RDONLY) == free[2]
    os.close(free[2])
    ended.kill()
    ended.wait(30)
    for handle in handles:
        handle.send(signal.SIGSTOP)
    while psutil.Process(stopped.pid).status() != psutil.STATUS_STOPPED:
        pass  # the test's own limit ends it
    for handle in handles:
        handle.close()


def test_descendants_end_also_when_their_parents_have():
    # In a process of its own: here, other tests' children would end as well.
    code = (
        "import subprocess, sys, time\n"
        "from harness.measure import processes\n"
        "processes.adopt_orphans()\n"
        "shell = subprocess.run(['sh', '-c', 'setsid sleep 60 >&- & sleep 60 >&- & echo $!'], stdout=-1, text=True)\n"
        "time.sleep(0.1)\n"
        "before = processes.descendants()\n"
        "processes.end_descendants()\n"
        "print(len(before), len(processes.descendants()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == ["2", "0"]

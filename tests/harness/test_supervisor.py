"""The supervisor's meter: CPU time of processes whose parents drop it when they end."""

import subprocess
import sys
import time

import pytest

from harness import processes
from harness.supervisor import _Meter
from workloads.shared_memory import Names

# A parent that has the kernel drop its children's times, and a child that has used some and waits.
DROPS = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
sys.stdin.readline()
child.kill()
"""
USED_S = 0.3


@pytest.fixture
def parent():
    with subprocess.Popen([sys.executable, "-c", DROPS], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.mark.timeout(60)
def test_what_a_parent_drops_was_seen_before(parent):
    meter = _Meter(Names())
    while not any(
        used > USED_S * 1e9 for used in processes.cpu_ns(set(processes.descendants()) - {parent.pid}).values()
    ):
        time.sleep(0.01)
    assert parent.pid in meter.read()
    parent.communicate(b"end\n")
    own = _Meter(Names()).seconds()
    assert meter.seconds() - own >= USED_S


def test_the_later_look_counts():
    meter = _Meter(Names())
    own = meter.seconds()
    meter.learn({"2": 5_000_000_000})
    meter.learn({"2": 1_000_000_000, "3": 2_000_000_000})
    assert round(meter.seconds() - own) == 7

"""Runs of the fake workload, and what they wrote."""

import contextlib
import time
from pathlib import Path

import psutil

from harness.store.measurement_table import MEASUREMENTS

METRICS = {"throughput", "round_time", "startup_time", "peak_rss", "cpu_time"}
TWO = ("--workload", "fake", "--backend", "serial", "--backend", "reactor-inline")
ONE = (*TWO, "--trials", "1")
LIMIT_S = 60


def rows_of(directory):
    return MEASUREMENTS.read(Path(directory))


def statuses(directory):
    """The status of each backend's trial 0, by behaviour."""
    return {(row.scenario, row.backend): row.status for row in rows_of(directory) if row.metric == "throughput"}


def wait_until(condition):
    give_up = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def alive(pids):
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [pid] if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE else []
    return found


SLOW = ("run", *TWO, "--trials", "2", "--set", "pause=0.05", "--output", "out")

"""Simulated work is waited for side by side wherever a backend is parallel: with more members than there are cores."""

import multiprocessing
import threading

import pytest

from workloads.broadcast_gather.task import Task
from workloads.catalogue import execute

MEMBERS = 24
LIMIT_S = 60


@pytest.mark.parametrize(
    ("backend", "barrier"),
    [
        ("reactor-threads", threading.Barrier),
        ("reactor-processes", multiprocessing.get_context("fork").Barrier),
    ],
)
def test_all_members_wait_at_the_same_time(backend, barrier, monkeypatch):
    together = barrier(MEMBERS)
    monkeypatch.setattr(Task, "wait", lambda _: together.wait(LIMIT_S))
    values = {"actors": MEMBERS, "object_bytes": 80, "work_seconds": 0.5, "rounds": 2, "warmup_rounds": 1}
    outcome = execute("broadcast_gather", backend, values, verify=True)
    monkeypatch.setattr(Task, "wait", lambda _: None)
    assert outcome.digest == execute("broadcast_gather", "serial", values, verify=True).digest


def test_one_thread_waits_for_one_after_the_other(monkeypatch):
    waits = []
    monkeypatch.setattr(Task, "wait", lambda _: waits.append(threading.get_ident()))
    values = {"actors": MEMBERS, "object_bytes": 80, "work_seconds": 0.5, "rounds": 1, "warmup_rounds": 0}
    execute("broadcast_gather", "reactor-inline", values, verify=False)
    assert waits == [threading.get_ident()] * MEMBERS

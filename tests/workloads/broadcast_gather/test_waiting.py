"""Simulated work is waited for side by side wherever a backend is parallel: with more members than there are cores."""

import threading

import pytest

from workloads.broadcast_gather import on_reactors
from workloads.broadcast_gather.task import Task
from workloads.catalogue import execute
from workloads.probe import Probe

MEMBERS = 24
VALUES = {"actors": MEMBERS, "object_bytes": 80, "work_seconds": 0.05, "rounds": 4, "warmup_rounds": 1}
WORK_NS = 50_000_000


@pytest.mark.parametrize("backend", ["reactor-inline", "reactor-threads", "reactor-processes", "reactor-lf"])
def test_members_are_reactors_that_wait_at_the_same_time_and_none_of_them_sleeps(backend, monkeypatch):
    expected = execute("broadcast_gather", "serial", VALUES | {"work_seconds": 0.0}, verify=True).digest
    monkeypatch.setattr(Task, "wait", None)
    outcome = execute("broadcast_gather", backend, VALUES, verify=True)
    assert outcome.digest == expected
    assert outcome.round_ns.min() < MEMBERS * WORK_NS / 2


@pytest.mark.parametrize("backend", ["reactor-inline", "reactor-processes", "reactor-lf"])
def test_the_whole_wait_follows_what_a_round_does_before_it(backend, monkeypatch):
    """The hub's part of a round takes time as well: no later wait is shorter for that."""

    def taking_time(method):
        def longer(*given, **options):
            threading.Event().wait(WORK_NS / 1e9)
            return method(*given, **options)

        return staticmethod(longer)

    for name in ("part", "change"):  # of the program in Python, and of the one in Lingua Franca
        monkeypatch.setattr(Task, name, taking_time(getattr(Task, name)))
    outcome = execute("broadcast_gather", backend, VALUES, verify=False)
    assert outcome.round_ns.min() >= 2 * WORK_NS


def test_the_wait_begins_when_the_last_member_has_received_the_array(monkeypatch):
    received, begun, now = [], [], on_reactors.physical_time
    held = property(lambda self: self.array, lambda self, array: (setattr(self, "array", array), received.append(self)))
    monkeypatch.setattr(on_reactors.WaitingClient, "held", held, raising=False)
    monkeypatch.setattr(on_reactors, "physical_time", lambda: begun.append(len(received)) or now())
    execute("broadcast_gather", "reactor-threads", VALUES, verify=False)
    assert begun == [MEMBERS * rounds for rounds in range(1, 6)]


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("work_seconds", [0.0, 0.001])
def test_a_large_array_is_made_in_parts_on_all_workers(executor, work_seconds, monkeypatch):
    monkeypatch.setattr(on_reactors, "LARGE_BYTES", 80)
    values = {"actors": 5, "object_bytes": 80_000, "rounds": 12, "work_seconds": work_seconds}
    expected = execute("broadcast_gather", "serial", values | {"work_seconds": 0.0}, verify=True).digest
    task = Task(**values)
    probe = Probe(task.rounds, task.warmup_rounds, verify=True)
    on_reactors.run(task, probe, executor=executor, workers=3)
    assert probe.outcome().digest == expected


def test_one_thread_waits_for_one_after_the_other(monkeypatch):
    waits = []
    monkeypatch.setattr(Task, "wait", lambda _: waits.append(threading.get_ident()))
    execute("broadcast_gather", "serial", VALUES | {"rounds": 1, "warmup_rounds": 0}, verify=False)
    assert waits == [threading.get_ident()] * MEMBERS

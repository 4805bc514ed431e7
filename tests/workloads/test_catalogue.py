"""The catalogue: every entry can be run, nothing is imported before its use, unknown names are refused."""

import importlib
import subprocess
import sys

import pytest

from reactorlib import cpus, elaborate
from reactorlib.schedule.partition import partition
from tests.choice import first
from workloads.catalogue import BACKENDS, WORKLOADS, execute, make_task, workers_of
from workloads.parameter import ParameterError, UnsupportedError, parameters_of
from workloads.probe import Probe


def test_the_workloads_and_the_backends_are_listed_under_their_own_names():
    assert list(WORKLOADS) == [
        "gym_sampling",
        "atari_sampling",
        "q_learning",
        "multi_agent",
        "ppo",
        "broadcast_gather",
        "overhead",
    ]
    assert {"serial", "reactor-inline", "ray-paper", "ray-pooled", "ray-pooled-compiled"} <= BACKENDS.keys()
    assert all(entry.name == name for name, entry in [*WORKLOADS.items(), *BACKENDS.items()])
    assert all(entry.summary for entry in [*WORKLOADS.values(), *BACKENDS.values()])


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_has_every_main_backend_and_the_same_description_of_its_task(workload):
    for backend in BACKENDS.values():
        if backend.role == "main":
            assert callable(importlib.import_module(WORKLOADS[workload].program(backend.module)).run)
    task = make_task(workload, {})
    assert task.scenario
    assert task.metric in ("throughput", "overhead")
    assert task.members > 0
    assert task.metric == "overhead" or (task.unit and task.units_per_round > 0)
    assert {"seed", "rounds", "warmup_rounds"} <= parameters_of(task).keys()
    assert all(declared.help for declared in parameters_of(task).values())


def test_a_backend_that_computes_something_else_says_what_differs():
    assert {backend.role for backend in BACKENDS.values()} == {"main", "peer", "limit"}
    unmatched = [backend for backend in BACKENDS.values() if not backend.matched]
    assert unmatched
    assert all(backend.role != "main" and "no digest" in backend.note for backend in unmatched)


def test_listing_imports_no_framework_and_no_task():
    command = "import sys, workloads.catalogue; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    heavy = {"ray", "torch", "gymnasium", "ale_py", "reactorlib", "workloads.gym_sampling.task"}
    assert not heavy & set(output.split())


@pytest.mark.parametrize(
    "workload", first(2, WORKLOADS, "a process that imports everything for each; two are always tried")
)
def test_what_a_task_imports_late_is_imported_before_the_clock_runs(workload):
    command = (
        f"import sys; from workloads.catalogue import load, make_task; make_task({workload!r}, {{}}); "
        f"assert 'torch' not in sys.modules; load({workload!r}, 'serial'); print('torch' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert output.stdout.strip() == str(workload in ("q_learning", "multi_agent", "ppo"))


@pytest.mark.parametrize(
    ("workload", "backend", "parameters", "message"),
    [
        ("gim_sampling", "serial", {}, "workload: unknown 'gim_sampling'; did you mean gym_sampling"),
        ("overhead", "seriel", {}, "backend: unknown 'seriel'; did you mean serial"),
        ("overhead", "envpool", {}, "backend: envpool does not run overhead"),
        ("overhead", "serial", {"actor": 1}, "parameter: unknown 'actor'; did you mean actors"),
    ],
)
def test_unknown_names_are_refused(workload, backend, parameters, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        execute(workload, backend, parameters, verify=False)


@pytest.mark.parametrize(
    ("backend", "members", "workers", "waiting"),
    [
        ("serial", 24, 1, 1),
        ("reactor-inline", 24, 1, None),
        ("reactor-threads", 24, 6, None),
        ("reactor-processes", 24, 6, None),
        ("reactor-processes", 4, 4, None),
        ("reactor-processes", 1, 1, None),
        ("reactor-mpi", 24, 6, None),
        ("ray-paper", 24, None, None),
        ("ray-pooled", 24, 6, None),
        ("gymnasium-async", 24, None, None),
        ("rllib", 24, 6, None),
        ("rllib", 16, 4, None),
        ("rllib", 13, 1, None),
    ],
)
def test_workers_are_as_many_as_cores_and_where_members_wait_as_if_each_had_one(
    backend, members, workers, waiting, monkeypatch
):
    monkeypatch.setattr(cpus, "available_cpus", lambda: 6)
    for work_seconds, expected in ((0.0, workers), (0.5, waiting)):
        task = make_task("broadcast_gather", {"actors": members, "work_seconds": work_seconds})
        assert workers_of(BACKENDS[backend], task) == expected


@pytest.mark.parametrize("shape", ["ping_pong", "thread_ring", "counting", "fan_out", "chain", "timers"])
def test_as_many_members_as_the_reactors_have_that_can_be_placed_apart(shape):
    module = importlib.import_module("workloads.overhead.on_reactors")
    task = make_task("overhead", {"shape": shape})
    program = elaborate(module.SHAPES[shape], task=task, probe=Probe(1, 0, False))
    assert task.members == len(set(partition(program, 2_000).of_instance))


@pytest.mark.parametrize(
    ("workload", "values"),
    [
        ("gym_sampling", {"actors": 1}),
        ("multi_agent", {"agents": 1}),
        ("overhead", {"shape": "ping_pong"}),
        ("overhead", {"shape": "counting"}),
        ("overhead", {"shape": "chain", "actors": 2}),
    ],
)
@pytest.mark.parametrize("backend", ["reactor-threads", "reactor-processes"])
def test_what_is_on_one_worker_is_not_called_parallel(workload, values, backend):
    with pytest.raises(UnsupportedError, match=r"on one worker: it would be reactor-inline again$"):
        execute(workload, backend, {"rounds": 2, "warmup_rounds": 0} | values, verify=False)

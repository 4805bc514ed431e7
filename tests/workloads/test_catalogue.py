"""The catalogue: what is listed can be run, nothing is imported before its use, unknown names are refused."""

import importlib
import importlib.util
import subprocess
import sys

import pytest

from workloads.catalogue import BACKENDS, WORKLOADS, execute, make_task
from workloads.parameter import ParameterError, parameters_of


def test_the_six_workloads_and_the_backends_are_listed_under_their_own_names():
    assert list(WORKLOADS) == [
        "broadcast_gather",
        "gym_sampling",
        "atari_sampling",
        "q_learning",
        "multi_agent",
        "overhead",
    ]
    assert {"serial", "reactor-inline", "ray-paper", "ray-tuned", "ray-compiled"} <= BACKENDS.keys()
    assert all(entry.name == name for name, entry in [*WORKLOADS.items(), *BACKENDS.items()])
    assert all(entry.summary for entry in [*WORKLOADS.values(), *BACKENDS.values()])


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_has_every_main_backend_and_the_same_description_of_its_task(workload):
    for backend in BACKENDS.values():
        if backend.role == "main":
            assert callable(importlib.import_module(f"{WORKLOADS[workload].module}.{backend.module}").run)
    task = make_task(workload, {})
    assert task.scenario
    assert task.metric in ("throughput", "overhead")
    assert task.metric == "overhead" or (task.unit and task.units_per_round > 0)
    limited = importlib.util.find_spec(f"{WORKLOADS[workload].module}.on_limit") is not None
    assert limited or task.parallel_parts > 0
    assert {"seed", "rounds", "warmup_rounds"} <= parameters_of(task).keys()
    assert all(declared.help for declared in parameters_of(task).values())


def test_a_backend_that_computes_something_else_says_what_differs():
    assert {backend.role for backend in BACKENDS.values()} == {"main", "peer", "limit"}
    unmatched = [backend for backend in BACKENDS.values() if not backend.matched]
    assert unmatched
    assert all(backend.role == "peer" and "no digest" in backend.note for backend in unmatched)


def test_listing_imports_no_framework_and_no_task():
    command = "import sys, workloads.catalogue; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    heavy = {"ray", "torch", "gymnasium", "ale_py", "reactorlib", "workloads.gym_sampling.task"}
    assert not heavy & set(output.split())


@pytest.mark.parametrize("workload", WORKLOADS)
def test_what_a_task_imports_late_is_imported_before_the_clock_runs(workload):
    command = (
        f"import sys; from workloads.catalogue import load, make_task; make_task({workload!r}, {{}}); "
        f"assert 'torch' not in sys.modules; load({workload!r}, 'serial'); print('torch' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert output.stdout.strip() == str(workload in ("q_learning", "multi_agent"))


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

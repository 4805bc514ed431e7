"""What the presets plan on machines that are not here: workers, memory and time, before anything starts."""

import pytest

from harness.plan import needs
from harness.plan.grid import backends_of
from harness.plan.presets import PRESETS
from harness.plan.selection import select
from harness.report.markdown import markdown_table
from reactorlib.cpus import available_cpus, cores
from tests.harness.plan.faked_machines import MACHINES, FakedMachine, faked, first_start_s, table, verification_s
from tests.pages import DOCS

GIB = 2**30
GROWING = ("quick", "crossover", "vectors", "contribute")


@pytest.fixture(params=MACHINES, ids=lambda machine: machine.name)
def machine(request):
    with faked(request.param):
        yield request.param


def test_a_core_counts_once_whatever_its_threads_and_a_quota_limits(machine):
    assert len(cores()) == machine.cores
    assert {len(core) for core in cores()} == {machine.threads}
    assert available_cpus() == (2 if machine.quota else machine.cores)
    first_node = [cpu for core in cores()[: machine.cores // machine.nodes] for cpu in core]
    half = machine.cores // machine.nodes
    assert sorted(first_node) == sorted(cpu + machine.cores * n for cpu in range(half) for n in range(machine.threads))


def test_one_core_with_two_threads_has_two_workers():
    with faked(FakedMachine("", 1, 8, threads=2)):
        assert available_cpus() == 2
    with faked(FakedMachine("", 1, 8)):
        assert available_cpus() == 1


def test_a_variable_of_python_replaces_the_count(monkeypatch):
    monkeypatch.setenv("PYTHON_CPU_COUNT", "16")
    assert available_cpus() == 16
    monkeypatch.setenv("PYTHON_CPU_COUNT", "default")
    assert available_cpus() <= len(cores()) + 1


@pytest.mark.parametrize("preset", PRESETS)
def test_every_plan_fits_the_cores_the_memory_and_the_time(machine, preset):
    grid = select(preset).grid
    for point in grid.points:
        assert verification_s(point) < grid.time_limit_s / 2
        for name in backends_of(point.workload, grid.backends):
            if not needs.why_not(point, name):
                assert needs.bytes_of(point, name) < machine.memory_gib * GIB
        waits = point.values.get("work_seconds", 0) > 0
        shared = ("reactor-processes", "ray-pooled", "ray-pooled-compiled", "lockstep")
        workers = {needs.workers(point, name) for name in backends_of(point.workload, shared)}
        expected = point.task.members if waits else min(point.task.members, available_cpus())
        assert workers == {expected}
    if preset in GROWING:
        assert max(point.task.members for point in grid.points) <= 256
        # As long as on two cores: on 256 cores, Ray's actors are not started one after the other.
        assert first_start_s(grid) < (1.5 if machine.cores > 64 else 1.0) * grid.budget_s
        assert all(
            not needs.why_not(point, name)
            for point in grid.points
            for name in backends_of(point.workload, grid.backends)
        )


def test_hardware_threads_change_no_plan():
    def planned(threads):
        with faked(FakedMachine("", 16, 64, threads=threads)):
            return [select(preset).grid for preset in PRESETS]

    assert planned(1) == planned(2)


def test_the_page_has_the_plans_of_all_machines():
    assert markdown_table(table()) in (DOCS / "more-cores.md").read_text(encoding="utf-8")

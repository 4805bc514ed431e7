"""Machines that are not here, and what each preset plans on them.

`python -m tests.harness.plan.faked_machines` prints the table of docs/more-cores.md.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from unittest import mock

from harness import quantity
from harness.grouping import grouped
from harness.plan import needs
from harness.plan.grid import Grid, Point, backends_of, made_up_ns
from harness.plan.presets import PRESETS
from harness.plan.selection import select
from harness.report.markdown import markdown_table
from harness.report.text_table import TextTable
from harness.store.measurement_table import MEASUREMENTS
from reactorlib import cpus

RESULTS = Path(__file__).resolve().parents[3] / "results"
_COLUMNS = ("machine", "preset", "workers", "members", "memory", "first start of all points", "not run")
# Of a step of the loop where no published run has the environment.
_UNKNOWN_S = 2e-4
# What a start takes: any process, and each actor of Ray's, as in results/ on two cores.
_START_S, _ACTOR_S = 1.0, 0.15


@dataclass(frozen=True)
class FakedMachine:
    """A machine by its name in the table. `threads`: of each core. `quota`: of its container, in CPUs."""

    name: str
    cores: int
    memory_gib: int
    threads: int = 1
    nodes: int = 1
    quota: float | None = None


MACHINES = (
    FakedMachine("4 cores, 8 GiB", 4, 8),
    FakedMachine("4 cores, 2 threads each, 16 GiB", 4, 16, threads=2),
    FakedMachine("16 cores, 64 GiB", 16, 64),
    FakedMachine("16 cores, 2 threads each, 2 nodes, 128 GiB", 16, 128, threads=2, nodes=2),
    FakedMachine("64 cores, 8 GiB", 64, 8),
    FakedMachine("64 cores, 2 threads each, 2 nodes, 512 GiB", 64, 512, threads=2, nodes=2),
    FakedMachine("256 cores, 2 nodes, 2 TiB", 256, 2048, nodes=2),
    FakedMachine("container with 1.5 of 64 cores, 8 GiB", 64, 8, quota=1.5),
)


@contextlib.contextmanager
def faked(machine: FakedMachine) -> Iterator[None]:
    """This machine has these cores, hardware threads, NUMA nodes, this memory and this quota."""
    count = machine.cores * machine.threads
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        topology, groups = Path(directory, "cpu"), Path(directory, "groups")
        for cpu in range(count):
            core = cpu % machine.cores  # as Linux numbers them: the second threads of all cores come last
            siblings = ",".join(str(core + machine.cores * thread) for thread in range(machine.threads))
            own = topology / f"cpu{cpu}"
            (own / "topology").mkdir(parents=True)
            (own / "topology" / "thread_siblings_list").write_text(f"{siblings}\n")
            (own / f"node{core * machine.nodes // machine.cores}").mkdir()
        groups.mkdir()
        (groups / "cpu.max").write_text(f"{int(machine.quota * 100_000) if machine.quota else 'max'} 100000\n")
        for name, value in (("TOPOLOGY", topology), ("GROUPS", groups), ("OWN_GROUPS", groups / "none")):
            stack.enter_context(mock.patch.object(cpus, name, value))
        stack.enter_context(mock.patch.object(os, "sched_getaffinity", return_value=set(range(count))))
        stack.enter_context(mock.patch("workloads.memory.total", return_value=machine.memory_gib * 2**30))
        yield


def first_start_s(grid: Grid) -> float:
    """About how long it takes until each point has started once on each backend, from the published rounds of loops."""
    return sum(
        backend_s(point, name) for point in grid.points for name in backends_of(point.workload, grid.backends)
        if not needs.why_not(point, name)
    )  # fmt: skip


def verification_s(point: Point) -> float:
    """How long the plain loop takes for the rounds that prove a backend right."""
    return point.verify_rounds * loop_round_s(point)


def backend_s(point: Point, backend: str) -> float:
    """How long a block takes with a backend: start, verification, warm-up, and sweeps of a lead and a turn."""
    workers = needs.workers(point, backend)
    round_s = loop_round_s(point) / min(workers, cpus.available_cpus())
    start_s = _START_S + (_ACTOR_S * workers if "ray" in backend else 0.0)
    warmup_s = max(0.5, min(8 * round_s, 8.0 + round_s))
    sweep_s = max(0.1, round_s) + max(0.15, round_s)
    return start_s + point.verify_rounds * round_s + warmup_s + max(3 * sweep_s, min(6 * sweep_s, 60.0))


def loop_round_s(point: Point) -> float:
    """A round of the plain loop, from the environment's name or from published rounds, by the number of members."""
    if ns := made_up_ns(point.values):
        return ns / 1e9
    key = point.workload, point.scenario
    return point.task.members * _steps(point) * _published().get(key, _UNKNOWN_S)


def _steps(point: Point) -> int:
    return int(
        point.values.get("steps_per_message", 1) * (point.values.get("steps", 1) if point.workload == "ppo" else 1)
    )


@cache
def _published() -> dict[tuple[str, str], float]:
    """The time of a member's step in the loop, in seconds, by workload and scenario."""
    rows = [
        (row, Point(row.workload, row.parameters, 1))
        for name in ("quick", "reference", "vectors", "threads")
        for row in MEASUREMENTS.read(RESULTS / name)
        if (row.backend, row.metric) == ("serial", "round_time") and row.value
    ]
    by_place = grouped(rows, lambda pair: (pair[0].workload, pair[0].scenario))
    return {
        place: fmean(row.value / 1e9 / (point.task.members * _steps(point)) for row, point in own)
        for place, own in by_place.items()
    }


def row(machine: FakedMachine, preset: str) -> tuple[str, ...]:
    """The row of a preset on this machine, which is faked."""
    grid = select(preset).grid
    pairs = [(point, name) for point in grid.points for name in backends_of(point.workload, grid.backends)]
    able = [(point, name) for point, name in pairs if not needs.why_not(point, name)]
    unable = sorted({name for point, name in pairs if needs.why_not(point, name)})
    workers = {needs.workers(point, name) for point, name in able if name == "reactor-processes"}
    return (
        machine.name,
        preset,
        quantity.from_to(workers),
        quantity.from_to(point.task.members for point in grid.points),
        quantity.size(max(needs.bytes_of(point, name) for point, name in able)),
        quantity.duration_s(first_start_s(grid)),
        f"{len(pairs) - len(able)} of {len(pairs)}: {', '.join(unable)}" if unable else "",
    )


def table() -> TextTable:
    """What every preset plans on every machine."""
    rows = []
    for machine in MACHINES:
        with faked(machine):
            rows += [row(machine, preset) for preset in PRESETS]
    return TextTable("", _COLUMNS, tuple(rows))


if __name__ == "__main__":
    print(markdown_table(table()))

"""What can be compared: the kernel's hot paths, and points of the workloads. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.regress.kernel import KERNEL
from harness.grid import backends_of
from harness.selection import Setting, select
from workloads.catalogue import BACKENDS

# The points of the preset smoke that start fastest: those without torch and without an emulator.
FAST_WORKLOADS = ("gym_sampling", "overhead", "broadcast_gather")
FAST_BACKENDS = ("reactor-inline", "reactor-processes")


@dataclass(frozen=True)
class Subject:
    """One thing that both trees do. Subjects of one group share a process.

    `one_process`: all its work is done by the process itself, whose CPU time then is the measure; else wall time is.
    `order`: what the measuring process is told.
    """

    name: str
    group: str
    one_process: bool
    order: Mapping[str, Any]


def kernel_subjects(names: Sequence[str] = tuple(KERNEL)) -> Iterator[Subject]:
    """The hot paths of these names."""
    for name in names:
        yield Subject(name, "kernel", True, {"kernel": name})


def workload_subjects(
    workloads: Sequence[str] = FAST_WORKLOADS,
    backends: Sequence[str] = FAST_BACKENDS,
    settings: Sequence[Setting] = (),
) -> Iterator[Subject]:
    """The smoke points of these workloads on these backends; raises UsageError for what isn't known."""
    grid = select("smoke", workloads=workloads, backends=backends, settings=settings).grid
    for point in grid.points:
        for backend in backends_of(point.workload, grid.backends):
            chosen = BACKENDS[backend]
            one_process = chosen.module == "on_serial" or chosen.options.get("executor") == "inline"
            order = {"workload": point.workload, "backend": backend, "parameters": point.values}
            yield Subject(f"{point.workload} {point.scenario} {backend}", point.workload, one_process, order)

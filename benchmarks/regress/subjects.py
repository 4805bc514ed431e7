"""The subjects of a comparison: the kernel's hot paths, and points of the workloads. Measures nothing."""

from collections.abc import Iterator, Sequence

from benchmarks.paths import HOT, order
from harness.measure.measured_processes import Subject, workload_order
from harness.plan.grid import backends_of, runs_alone
from harness.plan.point_name import not_default
from harness.plan.selection import select
from workloads.catalogue import BACKENDS

# The points of the preset smoke that start fastest: those without torch and without an emulator.
FAST_WORKLOADS = ("gym_sampling", "overhead", "broadcast_gather")
FAST_BACKENDS = ("reactor-inline", "reactor-processes", "reactor-pool", "reactor-mpi")


def kernel_subjects(names: Sequence[str] = tuple(HOT)) -> Iterator[Subject]:
    """The hot paths of these names."""
    for name in names:
        yield Subject(name, order(HOT[name].func, **HOT[name].keywords), on_one_cpu=True)


def workload_subjects(
    workloads: Sequence[str] = FAST_WORKLOADS, backends: Sequence[str] = FAST_BACKENDS
) -> Iterator[Subject]:
    """The smoke points of these workloads on these backends."""
    grid = select("smoke", workloads=workloads, backends=backends).grid
    for point in grid.points:
        for backend in backends_of(point.workload, grid.backends):
            chosen = BACKENDS[backend]
            rounds = point.verify_rounds if chosen.matched else 0
            # Another tree may not have all of the parameters that are at their defaults.
            told = workload_order(point.workload, backend, not_default(point.workload, point.values), rounds)
            alone = runs_alone(point.values, chosen)
            yield Subject(f"{point.name} {backend}", told, on_one_cpu=alone)

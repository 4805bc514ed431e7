"""The needs of a trial, known before anything starts: memory, and a second worker. Measures nothing."""

from collections.abc import Iterator

from harness.plan.grid import Grid, Point, backends_of, bytes_of_round
from harness.plan.presets import WORKER_BYTES
from workloads import memory
from workloads.catalogue import BACKENDS, workers_of

# The number of copies of a round's arrays in memory: of reactors, and of other backends, as in `results/reference`.
_COPIES_OF_REACTORS, _COPIES = 2.1, 1.1
# The part of the memory that a backend may need.
_SHARE = 0.85
_GIB = 2**30
_ONE_WORKER = "all that there is to place is on one worker: it would be a loop in one thread again"


def workers(point: Point, backend: str) -> int:
    """How many workers a backend has at a point: one for each core, or for each member."""
    return workers_of(BACKENDS[backend], point.task) or int(point.task.members)


def bytes_of(point: Point, backend: str) -> int:
    """About the most memory that a backend holds at a point."""
    copies = _COPIES_OF_REACTORS if BACKENDS[backend].module == "on_reactors" else _COPIES
    return WORKER_BYTES * (1 + workers(point, backend)) + int(copies * bytes_of_round(point.values))


def why_not(point: Point, backend: str) -> str:
    """Why a backend cannot run at a point on this machine, empty where it can."""
    one = BACKENDS[backend]
    if one.options.get("executor", "inline") != "inline" and workers(point, backend) == 1:
        return _ONE_WORKER
    needed, total = bytes_of(point, backend), memory.total()
    if needed > _SHARE * total:
        return f"needs about {needed / _GIB:.1f} GiB of memory, this machine has {total / _GIB:.1f}"
    return ""


def notes(grid: Grid) -> Iterator[str]:
    """A line for each backend that cannot run at a point, whose row will say so."""
    for point in grid.points:
        for backend in backends_of(point.workload, grid.backends):
            if reason := why_not(point, backend):
                yield f"not run: {backend} at {point.workload} {point.scenario}: {reason}"

"""The shapes as reactors of xronos, a runtime in C++ with reactions in Python."""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

try:
    import xronos
except ImportError:
    raise UnsupportedError.missing("xronos") from None

SHAPES = by_shape("on_xronos")


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe; logical time, which the timers use, runs freely."""
    SHAPES[task.shape].run(task, probe, xronos.Environment(fast=True))

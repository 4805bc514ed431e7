"""The shapes as plain loops over plain objects."""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.probe import Probe

SHAPES = by_shape("on_serial")


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    SHAPES[task.shape].run(task, probe)

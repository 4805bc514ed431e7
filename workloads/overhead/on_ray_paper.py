"""The shapes as Ray actors: each reaction becomes a method call, and values are passed on."""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.probe import Probe
from workloads.ray_session import session

SHAPES = by_shape("on_ray_paper")


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("paper", probe) as ray_session:
        SHAPES[task.shape].run(task, probe, ray_session)

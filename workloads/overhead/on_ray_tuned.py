"""The shapes as Ray actors: each reaction becomes a method call, and references are passed on.

They are along a ring or chain. In the other shapes Ray's advice changes nothing: small values, batched calls.
"""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.probe import Probe
from workloads.ray_session import session

SHAPES = by_shape("on_ray_paper") | by_shape("on_ray_tuned")


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("tuned", probe) as ray_session:
        SHAPES[task.shape].run(task, probe, ray_session)

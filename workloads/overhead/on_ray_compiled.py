"""The shapes as Ray actors in compiled graphs, which always begin and end at the driver.

Where nobody waits for a reply, several executions are under way at a time.
"""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.probe import Probe
from workloads.ray_session import session

SHAPES = by_shape("on_ray_compiled")


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("compiled", probe) as ray_session:
        SHAPES[task.shape].run(task, probe, ray_session)

"""The shapes whose members can be held in shares: the driver holds the first, an actor each of the others."""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.ray_session import session

SHAPES = by_shape("on_ray_pooled")


def run(task: Task, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds of the task, reporting to the probe."""
    if task.shape not in SHAPES:
        raise UnsupportedError(f"{task.shape}: no actor can hold more than it does in ray-tuned")
    with session(style, probe) as ray_session:
        SHAPES[task.shape].run(task, probe, ray_session, style)

"""The shapes as Ray actors: what is a reaction elsewhere is a method call here."""

from workloads.overhead.by_shape import by_shape
from workloads.overhead.task import Task
from workloads.probe import Probe
from workloads.ray_session import session

_PAPER = by_shape("on_ray_paper")
# Only along a ring or chain Ray's advice changes anything: in the other shapes are small values and batched calls.
SHAPES = {"paper": _PAPER, "tuned": _PAPER | by_shape("on_ray_tuned")}


def run(task: Task, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session(style, probe) as ray_session:
        SHAPES[style][task.shape].run(task, probe, ray_session)

"""As on_ray_tuned, with all calls of a round in one compiled graph."""

from workloads.multi_agent import on_ray_tuned
from workloads.multi_agent.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    on_ray_tuned.run(task, probe, "compiled")

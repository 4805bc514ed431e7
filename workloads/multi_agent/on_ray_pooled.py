"""As on_ray_tuned, with the agents in shares: the driver holds the first, an actor each of the others."""

from workloads.multi_agent import on_ray_tuned
from workloads.multi_agent.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds of the task, reporting to the probe."""
    on_ray_tuned.run(task, probe, style, apart=False)

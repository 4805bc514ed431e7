"""As on_ray_tuned, with the environments in shares: the driver steps the first, an actor each of the others."""

from workloads.ppo import on_ray_tuned
from workloads.ppo.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds of the task, reporting to the probe."""
    on_ray_tuned.run(task, probe, style, apart=False)

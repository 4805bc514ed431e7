"""As on_ray_tuned, with the environments in shares: the driver steps the first, an actor each of the others."""

from workloads.gym_sampling import on_ray_tuned
from workloads.probe import Probe
from workloads.sampling import SamplingTask


def run(task: SamplingTask, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds of the task, reporting to the probe."""
    on_ray_tuned.run(task, probe, style, apart=False)

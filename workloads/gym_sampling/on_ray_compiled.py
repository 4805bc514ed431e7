"""As on_ray_tuned, with all calls of a round in one compiled graph."""

from workloads.gym_sampling import on_ray_tuned
from workloads.probe import Probe
from workloads.sampling import SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    on_ray_tuned.run(task, probe, "compiled")

"""Sampling with one Ray actor per core, each with its share of the environments: one call per actor and round."""

from workloads.gym_sampling.on_ray import Client
from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session
from workloads.sampling import SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("tuned", probe) as ray_session:
        clients = Pool(ray_session, Client, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        probe.ready()
        for round_index in range(task.total_rounds):
            replies = clients.gather("sample", round_index * task.steps_per_message)
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))

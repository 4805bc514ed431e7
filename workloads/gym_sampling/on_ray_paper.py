"""Sampling with one Ray actor per environment, in a session as a user starts it."""

import ray

from workloads.probe import Probe
from workloads.ray_session import session
from workloads.sampling import Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("paper", probe) as ray_session:
        clients = ray_session.start(Sampler, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            replies = ray.get([client.step_message.remote(step) for client in clients])
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))

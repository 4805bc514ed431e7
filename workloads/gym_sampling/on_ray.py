"""Sampling with one Ray actor per environment."""

import ray

from workloads.probe import Probe
from workloads.ray_session import session
from workloads.sampling import Reply, Sampler, SamplingTask


class Client:
    """One environment."""

    def __init__(self, task: SamplingTask, index: int) -> None:
        self.sampler = Sampler(task, index)

    def sample(self, step: int) -> Reply:
        """Answer a message from the hub."""
        return self.sampler.step_message(step)


def run(task: SamplingTask, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds of the task, reporting to the probe.

    The styles differ in their session only: a step number is far too small for the object store, the replies
    are contiguous NumPy arrays already, and one get per round takes them all.
    """
    with session(style, probe) as ray_session:
        clients = ray_session.start(Client, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            replies = ray.get([client.sample.remote(step) for client in clients])
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))

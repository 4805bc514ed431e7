"""Sampling with one Ray actor per environment."""

import ray

from workloads.probe import Probe
from workloads.ray_session import session
from workloads.sampling import Reply, Sampler, SamplingTask


class Client:
    """One environment."""

    def __init__(self, task: SamplingTask, index: int) -> None:
        self.sampler = Sampler(task, index)

    def ready(self) -> None:
        """Return once the environment is made."""

    def sample(self, step: int) -> Reply:
        """Answer a message from the hub."""
        return self.sampler.step_message(step)


def run(task: SamplingTask, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds of the task, reporting to the probe.

    The styles differ in their session only: a step number is far too small for the object store, the replies
    are contiguous NumPy arrays already, and one get per round takes them all.
    """
    # An actor reserves no CPU, so that any number of them starts on any machine; they share its cores.
    actor = ray.remote(Client).options(num_cpus=0)
    with session(style, probe) as ray_session:
        clients = ray_session.keep(actor.remote(task, index) for index in range(task.actors))
        ray.get([client.ready.remote() for client in clients])
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            replies = ray.get([client.sample.remote(step) for client in clients])
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))

"""Sampling with the environments as actors in shares, one per core."""

import pickle

from workloads.actors.members import Members
from workloads.actors.system import load
from workloads.probe import Probe
from workloads.sampling import Reply, Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe, system: str) -> None:
    """Run all rounds of the task on an actor system, reporting to the probe."""
    with load(system)(probe) as actors:
        clients = Members(actors, Sampler, ((task, index) for index in range(task.actors)))
        clients.await_actors(lambda share: len(pickle.dumps(Sampler(task, 0).step_message(0), protocol=5)) * share)
        replies: list[Reply] = []
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            replies.clear()  # before the next call: they may lie in memory of the system's
            replies += clients.gather("step_message", step)
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))

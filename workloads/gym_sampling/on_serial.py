"""Sampling as a plain loop over the environments."""

from workloads.probe import Probe
from workloads.sampling import Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    clients = [Sampler(task, index) for index in range(task.actors)]
    probe.ready()
    for round_index in range(task.total_rounds):
        step = round_index * task.steps_per_message
        replies = [client.step_message(step) for client in clients]
        if probe.verifying:
            task.record(probe.digest, replies)
        probe.round()
    probe.state(task.final_state(replies))

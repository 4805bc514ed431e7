"""Broadcast and gather as a plain loop over the workers."""

from workloads.broadcast_gather.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    value = task.first_value()
    probe.ready()
    for round_index in range(task.total_rounds):
        replies = [task.work(value) for _ in range(task.actors)]
        if probe.verifying:
            task.record(probe.digest, replies)
        value = task.next_value(replies[0], round_index)
        probe.round()
    probe.state(value)

"""Broadcast and gather as a plain loop, in memory that is used again."""

from functools import partial

import numpy as np

from workloads.broadcast_gather.task import Task, into
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    value = task.first_value()
    spare, *copies = (partial(into, np.empty_like(value)) for _ in range(task.actors + 1))
    probe.ready()
    for round_index in range(task.total_rounds):
        replies = [task.work(value, copy) for copy in copies]
        if probe.verifying:
            task.record(probe.digest, replies)
        value, spare = task.next_value(replies[0], round_index, spare), partial(into, value)
        probe.round()
    probe.state(value)

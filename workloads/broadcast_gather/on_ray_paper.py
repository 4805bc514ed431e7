"""Broadcast and gather with one Ray actor per worker: the array itself goes into every call.

A large one Ray stores anew for each.
"""

import ray

from workloads.broadcast_gather.task import Task, Value
from workloads.probe import Probe
from workloads.ray_session import session


class Client:
    """One worker."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def work(self, value: Value) -> Value:
        """Answer a broadcast."""
        return self.task.work(value)


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("paper", probe) as ray_session:
        clients = ray_session.start(Client, [(task,)] * task.actors)
        ray_session.await_actors()
        value = task.first_value()
        probe.ready()
        for round_index in range(task.total_rounds):
            replies = ray.get([client.work.remote(value) for client in clients])
            if probe.verifying:
                task.record(probe.digest, replies)
            value = task.next_value(replies[0], round_index)
            # A reply occupies the object store for as long as its array lives.
            del replies
            probe.round()
        probe.state(value)

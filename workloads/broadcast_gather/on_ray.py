"""Broadcast and gather with one Ray actor per worker."""

import ray

from workloads.broadcast_gather.task import Task, Value
from workloads.probe import Probe
from workloads.ray_session import session
from workloads.ray_styles import INLINE_LIMIT_BYTES


class Client:
    """One worker."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def ready(self) -> None:
        """Return once the actor runs."""

    def work(self, value: Value) -> Value:
        """Answer a broadcast."""
        return self.task.work(value)


def run(task: Task, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds of the task, reporting to the probe.

    Style "paper" gives the array itself to every call, and Ray stores a large one anew for each; "tuned" stores a
    large one once per broadcast and gives its reference.
    """
    # An actor reserves no CPU, so that any number of them starts on any machine; they share its cores.
    actor = ray.remote(Client).options(num_cpus=0)
    with session(style, probe) as ray_session:
        clients = ray_session.keep(actor.remote(task) for _ in range(task.actors))
        ray.get([client.ready.remote() for client in clients])
        value = task.first_value()
        put = style == "tuned" and task.object_bytes > INLINE_LIMIT_BYTES
        probe.ready()
        for round_index in range(task.total_rounds):
            message = ray.put(value) if put else value
            replies = ray.get([client.work.remote(message) for client in clients])
            if probe.verifying:
                task.record(probe.digest, replies)
            value = task.next_value(replies[0], round_index)
            # A reply occupies the object store for as long as its array lives.
            del replies
            probe.round()
        probe.state(value)

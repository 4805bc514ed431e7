"""Broadcast and gather with one Ray actor per worker: a large array is stored once, and calls are given its reference.

Nothing is copied that Ray copies, and each broadcast is made in the memory of the one before, of which Ray has its own
copy.
"""

from functools import partial

import ray

from workloads.broadcast_gather.task import Task, Value, into
from workloads.probe import Probe
from workloads.ray_session import session
from workloads.ray_styles import INLINE_LIMIT_BYTES


class Client:
    """One worker that leaves the copying to Ray, which does it anyway for everything that is returned."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def work(self, value: Value) -> Value:
        """Answer a broadcast."""
        self.task.wait()
        return value


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("tuned", probe) as ray_session:
        clients = ray_session.start(Client, [(task,)] * task.actors)
        ray_session.await_actors()
        value = task.first_value()
        allocate = partial(into, value)
        is_large = task.object_bytes > INLINE_LIMIT_BYTES
        probe.ready()
        for round_index in range(task.total_rounds):
            message = ray.put(value) if is_large else value
            replies = ray.get([client.work.remote(message) for client in clients])
            if probe.verifying:
                task.record(probe.digest, replies)
            value = task.next_value(replies[0], round_index, allocate)
            # A message and a reply occupy the object store for as long as their arrays live.
            del message, replies
            probe.round()
        probe.state(value)

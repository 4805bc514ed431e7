"""Broadcast and gather with one Ray actor per core, each with its share of the workers: one call per actor and round.

The array is stored once per broadcast, and each broadcast is made in the memory of the one before, as in
on_ray_tuned. All workers of an actor wait at the same time.
"""

from functools import partial

import ray

from workloads.broadcast_gather.task import Task, Value, into
from workloads.probe import Probe
from workloads.ray_pool import Batch, Pool, Share
from workloads.ray_session import session
from workloads.ray_styles import INLINE_LIMIT_BYTES


class PooledClient:
    """One worker that leaves the copying to Ray, and the waiting to its share."""

    def work(self, value: Value) -> Value:
        """Answer a broadcast: with an array of its own, for of one array in many replies Ray would send one copy."""
        return value[:]


class WaitingShare(Share):
    """The workers of one actor, who wait at the same time."""

    def __init__(self, member_class: type[PooledClient], arguments: list[tuple[Task]]) -> None:
        super().__init__(member_class, [() for _ in arguments])
        (self._task,) = arguments[0]

    def ask(self, method: str, *arguments: Value) -> Batch:
        """The replies of all workers, after the time that each of them needs."""
        self._task.wait()
        return super().ask(method, *arguments)


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("tuned", probe) as ray_session:
        clients = Pool(ray_session, PooledClient, [(task,)] * task.actors, WaitingShare)
        ray_session.await_actors()
        value = task.first_value()
        allocate = partial(into, value)
        is_large = task.object_bytes > INLINE_LIMIT_BYTES
        probe.ready()
        for round_index in range(task.total_rounds):
            message = ray.put(value) if is_large else value
            replies = clients.gather("work", message)
            if probe.verifying:
                task.record(probe.digest, replies)
            value = task.next_value(replies[0], round_index, allocate)
            # A reply occupies the object store for as long as its array lives.
            del replies
            probe.round()
        probe.state(value)

"""Broadcast and gather with the workers in shares: the driver holds the first, an actor each of the others.

The array is stored once per broadcast. Storing it is the hub's copy, so each broadcast is the driver's first reply
itself. Its worker replies next in the memory of the broadcast before. All workers of a share wait at the same time.
"""

import numpy as np

from workloads.broadcast_gather.task import Task, Value
from workloads.probe import Probe
from workloads.ray_pool import Batch, Pool, Share
from workloads.ray_session import session
from workloads.ray_styles import INLINE_LIMIT_BYTES


class PooledClient:
    """One worker, which leaves the waiting to its share."""

    def __init__(self) -> None:
        self._memory: Value = np.empty(0)

    def work(self, value: Value) -> Value:
        """Answer a broadcast with a copy, in memory that is used again."""
        if self._memory.shape != value.shape:
            self._memory = np.empty_like(value)
        np.copyto(self._memory, value)
        return self._memory

    def work_in_actor(self, value: Value) -> Value:
        """Answer a broadcast with a view, which Ray copies. Of one array in many replies Ray would send one copy."""
        return value[:]

    def take_reply(self, memory: Value) -> Value:
        """Give away the memory of the last reply, and reply in this one from now on."""
        reply, self._memory = self._memory, memory
        return reply


class WaitingShare(Share):
    """The workers of one process, which wait at the same time."""

    def __init__(self, member_class: type[PooledClient], arguments: list[tuple[Task]]) -> None:
        super().__init__(member_class, [() for _ in arguments])
        (self._task,) = arguments[0]

    def replies(self, method: str, *arguments: Value) -> list[Value]:
        """The replies of all workers, after the time that each of them needs."""
        self._task.wait()
        return super().replies(method, *arguments)

    def batch(self, method: str, *arguments: Value) -> Batch:
        """The same for the driver."""
        return super().batch(f"{method}_in_actor", *arguments)


def run(task: Task, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session(style, probe) as ray_session:
        clients = Pool(ray_session, PooledClient, [(task,)] * task.actors, WaitingShare)
        ray_session.await_actors()
        if style == "compiled":
            clients.compile(ray_session, task.object_bytes * clients.share_size)
        value = task.first_value()
        is_large = task.object_bytes > INLINE_LIMIT_BYTES
        probe.ready()
        for round_index in range(task.total_rounds):
            replies = clients.gather("work", value, stored=is_large)
            if probe.verifying:
                task.record(probe.digest, replies)
            value = clients.own.members[0].take_reply(value)
            task.change(value, round_index)
            # A reply occupies the object store for as long as its array lives.
            del replies
            probe.round()
        probe.state(value)

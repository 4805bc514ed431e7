"""Broadcast and gather with the workers in shares: the driver holds the first, an actor each of the others.

A system copies the array to its actors once per broadcast. That is the hub's copy, so each broadcast is the driver's
first reply itself. Its worker replies next in the memory of the broadcast before. All workers of a share wait at the
same time.
"""

from typing import Any

import numpy as np

from workloads.actors.members import Members, Share
from workloads.actors.system import load
from workloads.broadcast_gather.task import Task, Value
from workloads.probe import Probe


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
        """Answer with a view, which the system copies. Of one array in many replies it would send one copy."""
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

    def batch(self, method: str, *arguments: Value) -> Any:
        """The same for the driver."""
        return super().batch(f"{method}_in_actor", *arguments)


def run(task: Task, probe: Probe, system: str) -> None:
    """Run all rounds of the task on an actor system, reporting to the probe."""
    with load(system)(probe) as actors:
        clients = Members(actors, PooledClient, [(task,)] * task.actors, WaitingShare)
        clients.await_actors(lambda share: task.object_bytes * share)
        value = task.first_value()
        probe.ready()
        for round_index in range(task.total_rounds):
            replies = clients.gather("work", value)
            if probe.verifying:
                task.record(probe.digest, replies)
            value = clients.own.members[0].take_reply(value)
            task.change(value, round_index)
            # Before the next call: a reply may lie in memory of the system's for as long as its array lives.
            del replies
            probe.round()
        probe.state(value)

"""A ring in arcs: the driver holds the first, an actor each of the others, which hand on references."""

from typing import Any

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe
from workloads.ray_pool import Pool, Share
from workloads.ray_session import Session


class Arc(Share):
    """Members that follow one another."""

    def take(self, value: int) -> int:
        """The value for the next arc."""
        for member in self.members:
            value = member.take(value)
        return value


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    pool = Pool(ray_session, Member, ((index,) for index in range(task.actors)), Arc)
    first: Any = pool.own
    ray_session.await_actors()

    def play(value: Any) -> int:
        for _ in range(task.messages_per_round):
            value = first.take(value)
            for arc in pool.actors:
                value = arc.take.remote(value)
            if pool.actors:
                value = ray.get(value)
        result: int = value
        return result

    play_rounds(task, probe, play)

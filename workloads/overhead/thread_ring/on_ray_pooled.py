"""A ring in arcs: the driver holds the first, an actor each of the others, which hand on references."""

from functools import partial
from typing import Any

import ray

from workloads.overhead.ray_graphs import MESSAGE_BYTES
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_pool import Pool, Share
from workloads.ray_session import Session


class Arc(Share):
    """Members that follow one another."""

    def take(self, value: int) -> int:
        """The value for the next arc."""
        for member in self.members:
            value = member.take(value)
        return value


def run(task: Task, probe: Probe, ray_session: Session, style: str) -> None:
    """Run all rounds of the task, reporting to the probe."""
    pool = Pool(ray_session, Member, ((index,) for index in range(task.actors)), Arc)
    first: Any = pool.own
    ray_session.await_actors()

    def through(value: Any, calls: str) -> Any:
        for arc in pool.actors:
            value = getattr(arc.take, calls)(value)
        return value

    lap: Execute = partial(through, calls="remote")
    if style == "compiled" and pool.actors:
        lap = compile_graph(ray_session, partial(through, calls="bind"), MESSAGE_BYTES)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = first.take(value)
            if pool.actors:
                value = ray.get(lap(value))
        return value

    play_rounds(task, probe, play)

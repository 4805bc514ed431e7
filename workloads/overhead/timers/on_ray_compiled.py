"""Timers with a Ray actor in a compiled graph: the driver keeps the heap and executes the graph for each firing."""

import heapq
from collections.abc import Iterator

import ray

from workloads.overhead.ray_graphs import IN_FLIGHT, MESSAGE_BYTES, last
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Task, TimerCounts
from workloads.probe import Probe
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_session import Session


class CountingTimers(TimerCounts):
    """Tells the counts in the graph as well: an actor in a graph takes no other calls."""

    def fire_or_tell(self, index: int) -> list[int] | None:
        """Count a firing; for -1, tell the counts."""
        if index < 0:
            return self.retrieve()
        self.fire(index)
        return None


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (timer_counts,) = ray_session.start(CountingTimers, [(task.actors,)])
    ray_session.await_actors()
    largest_bytes = 8 * task.actors + MESSAGE_BYTES
    execute: Execute = compile_graph(ray_session, timer_counts.fire_or_tell.bind, largest_bytes, IN_FLIGHT)
    queue = task.first_firings()

    def due() -> Iterator[int]:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            yield index
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))

    def play(value: int) -> int:
        last(execute, due())
        return value + task.units_per_round

    play_rounds(task, probe, play, counts_follow=True)
    probe.state(ray.get(execute(-1)))

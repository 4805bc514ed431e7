"""Timers with a Ray actor that counts. Ray has no timers: the driver keeps the heap and calls for each firing.

One actor, in a process of its own, answers for all timers; a process per timer would only be slower.
"""

import heapq

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Task, TimerCounts
from workloads.probe import Probe
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (timer_counts,) = ray_session.start(TimerCounts, [(task.actors,)])
    ray_session.await_actors()
    queue = task.first_firings()

    def play(value: int) -> int:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            fired = timer_counts.fire.remote(index)
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))
        ray.get(fired)
        return value + task.units_per_round

    play_rounds(task, probe, play, counts_follow=True)
    probe.state(ray.get(timer_counts.retrieve.remote()))

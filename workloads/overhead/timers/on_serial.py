"""Timers as a plain loop: a heap of the next firing of each."""

import heapq

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Task, TimerCounts
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    timer_counts = TimerCounts(task.actors)
    queue = task.first_firings()

    def play(value: int) -> int:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            timer_counts.fire(index)
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))
        return value + task.units_per_round

    play_rounds(task, probe, play, counts_follow=True)
    probe.state(timer_counts.retrieve())

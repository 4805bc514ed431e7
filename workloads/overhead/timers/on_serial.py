"""Timers as a plain loop: a heap of the next firing of each."""

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Task, TimerHeap
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    timers = TimerHeap(task, range(task.actors))
    play_rounds(task, probe, lambda value: value + timers.play_round(), counts_follow=True)
    probe.state(timers.retrieve())

"""Timers in one Ray actor, which keeps the heap of their next firings: one call per round."""

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Task, TimerHeap
from workloads.probe import Probe
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (timers,) = ray_session.start(TimerHeap, [(task, range(task.actors))])
    ray_session.await_actors()

    def play(value: int) -> int:
        fired: int = ray.get(timers.play_round.remote())
        return value + fired

    play_rounds(task, probe, play, counts_follow=True)
    probe.state(ray.get(timers.retrieve.remote()))

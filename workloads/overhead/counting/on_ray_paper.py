"""Counting with one Ray actor that counts: the driver is the producer, and waits for the sum only."""

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Counter, Task
from workloads.probe import Probe
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (counter,) = ray_session.start(Counter, [()])
    ray_session.await_actors()

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            counter.add.remote(increment)
        total: int = ray.get(counter.retrieve.remote())
        return total

    play_rounds(task, probe, play)

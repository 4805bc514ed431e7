"""Counting as a plain loop: one object that counts."""

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Counter, Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    counter = Counter()

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            counter.add(increment)
        return counter.retrieve()

    play_rounds(task, probe, play)

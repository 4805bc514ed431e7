"""Ping-pong as a plain loop: one object that answers."""

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    pong = Member(0)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = pong.take(value)
        return value

    play_rounds(task, probe, play)

"""A ring as a plain loop: one object per member, called in turn."""

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    members = [Member(index) for index in range(task.actors)]

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            for member in members:
                value = member.take(value)
        return value

    play_rounds(task, probe, play)

"""Fan-out as a plain loop: one object per client, called in turn."""

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import SUM_MODULUS, Member, Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    clients = [Member(index) for index in range(task.actors)]

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies = [client.take(value) for client in clients]
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    play_rounds(task, probe, play)

"""Fan-out with one Ray actor per client."""

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import SUM_MODULUS, Member, Task
from workloads.probe import Probe
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    clients = ray_session.start(Member, ((index,) for index in range(task.actors)))
    ray_session.await_actors()

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies: list[int] = ray.get([client.take.remote(value) for client in clients])
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    play_rounds(task, probe, play)

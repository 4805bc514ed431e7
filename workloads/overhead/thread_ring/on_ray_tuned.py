"""A ring with one Ray actor per member: each is given the reference to what the one before it will return.

The driver waits for the last only.
"""

from typing import Any

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    members = ray_session.start(Member, ((index,) for index in range(task.actors)))
    ray_session.await_actors()

    def play(value: Any) -> int:
        for _ in range(task.messages_per_round):
            for member in members:
                value = member.take.remote(value)
        result: int = ray.get(value)
        return result

    play_rounds(task, probe, play)

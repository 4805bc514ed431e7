"""Ping-pong as two Ray actors: the exchange is between them, and not with the driver."""

from typing import Any

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe
from workloads.ray_session import Session


class Ping:
    """Plays against another actor."""

    def __init__(self, pong: Any) -> None:
        self.pong = pong

    def play(self, value: int, exchanges: int) -> int:
        """The value after `exchanges` round trips."""
        for _ in range(exchanges):
            value = ray.get(self.pong.take.remote(value))
        return value


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (pong,) = ray_session.start(Member, [(0,)])
    (ping,) = ray_session.start(Ping, [(pong,)])
    ray_session.await_actors()

    def play(value: int) -> int:
        result: int = ray.get(ping.play.remote(value, task.messages_per_round))
        return result

    play_rounds(task, probe, play)

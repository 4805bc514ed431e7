"""Ping-pong with a Ray actor in a compiled graph: the driver itself plays against it, for a graph begins there."""

import ray

from workloads.overhead.ray_graphs import MESSAGE_BYTES
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (pong,) = ray_session.start(Member, [(0,)])
    ray_session.await_actors()
    execute: Execute = compile_graph(ray_session, pong.take.bind, MESSAGE_BYTES)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = ray.get(execute(value))
        return value

    play_rounds(task, probe, play)

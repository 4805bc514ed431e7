"""A ring with one Ray actor per member in a compiled graph: a lap per execution, whose token the driver takes back."""

import ray

from workloads.overhead.ray_graphs import MESSAGE_BYTES
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Member, Task
from workloads.probe import Probe
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    members = ray_session.start(Member, ((index,) for index in range(task.actors)))
    ray_session.await_actors()

    def build(value: object) -> object:
        for member in members:
            value = member.take.bind(value)
        return value

    execute: Execute = compile_graph(ray_session, build, MESSAGE_BYTES)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = ray.get(execute(value))
        return value

    play_rounds(task, probe, play)

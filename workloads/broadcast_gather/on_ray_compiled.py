"""Broadcast and gather with one Ray actor per worker, all calls of a round in one compiled graph."""

from functools import partial

import ray

from workloads.broadcast_gather.on_ray_tuned import Client
from workloads.broadcast_gather.task import Task, into
from workloads.probe import Probe
from workloads.ray_graph import broadcast_graph
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("compiled", probe) as ray_session:
        clients = ray_session.start(Client, [(task,)] * task.actors)
        ray_session.await_actors()
        execute = broadcast_graph(ray_session, [client.work for client in clients], task.object_bytes)
        value = task.first_value()
        allocate = partial(into, value)
        probe.ready()
        for round_index in range(task.total_rounds):
            replies = ray.get(execute(value))
            if probe.verifying:
                task.record(probe.digest, replies)
            value = task.next_value(replies[0], round_index, allocate)
            # A reply occupies the graph's buffer for as long as its array lives.
            del replies
            probe.round()
        probe.state(value)

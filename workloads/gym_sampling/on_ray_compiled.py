"""Sampling with one Ray actor per environment, all calls of a round in one compiled graph."""

import pickle

import ray

from workloads.probe import Probe
from workloads.ray_graph import broadcast_graph
from workloads.ray_session import session
from workloads.sampling import Reply, Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("compiled", probe) as ray_session:
        clients = ray_session.start(Sampler, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        execute = broadcast_graph(ray_session, [client.step_message for client in clients], reply_bytes(task))
        replies: list[Reply] = []
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            # A reply occupies the graph's buffer for as long as its arrays live.
            replies.clear()
            replies += ray.get(execute(step))
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))


def reply_bytes(task: SamplingTask) -> int:
    """The size of a reply, as pickled: that of a sampler made for the purpose."""
    return len(pickle.dumps(Sampler(task, 0).step_message(0), protocol=5))

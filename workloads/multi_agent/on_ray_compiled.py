"""Traffic Junction as Ray actors: an actor per agent, all calls of a round in one compiled graph."""

import pickle

import ray

from workloads.multi_agent.ray_actors import Agent
from workloads.multi_agent.task import Task
from workloads.probe import Probe
from workloads.ray_graph import broadcast_graph
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("compiled", probe) as ray_session:
        agents = ray_session.start(Agent, ((task, agent) for agent in range(task.agents)))
        episodes = task.make_episodes()
        ray_session.await_actors()
        message_bytes = len(pickle.dumps(episodes.message, protocol=5))
        execute = broadcast_graph(ray_session, [agent.act for agent in agents], message_bytes)
        probe.ready()
        for _ in range(task.total_rounds):
            actions = ray.get(execute(episodes.message))
            rewards = episodes.step(actions)
            if probe.verifying:
                task.record(probe.digest, actions, rewards)
            probe.round()
        probe.state(task.final_state(episodes))

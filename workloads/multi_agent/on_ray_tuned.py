"""Traffic Junction as Ray actors: an actor per agent, and a large joint observation stored once. The driver is the hub.

Large is what Ray doesn't pass inline (51 agents or more); below, a put costs more than it saves.
"""

import ray

from workloads.multi_agent.ray_actors import Agent
from workloads.multi_agent.task import Task
from workloads.probe import Probe
from workloads.ray_session import session
from workloads.ray_styles import INLINE_LIMIT_BYTES


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("tuned", probe) as ray_session:
        agents = ray_session.start(Agent, ((task, agent) for agent in range(task.agents)))
        episodes = task.make_episodes()
        ray_session.await_actors()
        is_large = episodes.observation.nbytes > INLINE_LIMIT_BYTES
        probe.ready()
        for _ in range(task.total_rounds):
            observation = ray.put(episodes.message) if is_large else episodes.message
            actions = ray.get([agent.act.remote(observation) for agent in agents])
            rewards = episodes.step(actions)
            if probe.verifying:
                task.record(probe.digest, actions, rewards)
            probe.round()
        probe.state(task.final_state(episodes))

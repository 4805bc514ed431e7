"""Traffic Junction as Ray actors, an actor per agent. The driver is the hub. `on_ray_pooled` has them in shares.

A large joint observation is stored once. Large is what Ray doesn't pass inline (51 agents or more). Below, a put costs
more than it saves, and the call is packed by one pickle.
"""

import pickle

from workloads.multi_agent.ray_actors import Agent
from workloads.multi_agent.task import Task
from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session
from workloads.ray_styles import INLINE_LIMIT_BYTES


def run(task: Task, probe: Probe, style: str = "tuned", *, apart: bool = True) -> None:
    """Run all rounds on actors of this machine."""
    with session(style, probe) as ray_session:
        agents = Pool(ray_session, Agent, ((task, agent) for agent in range(task.agents)), apart=apart)
        episodes = task.make_episodes()
        ray_session.await_actors()
        if style == "compiled":
            agents.compile(ray_session, len(pickle.dumps(episodes.message, protocol=5)))
        is_large = episodes.observation.nbytes > INLINE_LIMIT_BYTES
        probe.ready()
        for _ in range(task.total_rounds):
            actions = agents.gather("act", episodes.message, stored=is_large)
            rewards = episodes.step(actions)
            if probe.verifying:
                task.record(probe.digest, actions, rewards)
            probe.round()
        probe.state(task.final_state(episodes))

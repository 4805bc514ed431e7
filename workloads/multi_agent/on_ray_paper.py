"""Traffic Junction as Ray actors: an actor per agent, and the joint observation in every call. The driver is the
hub."""

import ray

from workloads.multi_agent.episodes import Message
from workloads.multi_agent.task import Task
from workloads.probe import Probe
from workloads.ray_session import session


class Agent:
    """An agent and its policy."""

    def __init__(self, task: Task, agent: int) -> None:
        self.policy = task.make_policy(agent)

    def act(self, observation: Message) -> int:
        """The action for the joint observation."""
        return self.policy.act(observation)


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("paper", probe) as ray_session:
        agents = ray_session.start(Agent, ((task, agent) for agent in range(task.agents)))
        episodes = task.make_episodes()
        ray_session.await_actors()
        probe.ready()
        for _ in range(task.total_rounds):
            observation = episodes.message
            actions = ray.get([agent.act.remote(observation) for agent in agents])
            rewards = episodes.step(actions)
            if probe.verifying:
                task.record(probe.digest, actions, rewards)
            probe.round()
        probe.state(task.final_state(episodes))

"""Traffic Junction as Ray actors: an actor per agent; the driver is the hub.

Style "paper": the joint observation inline in the call to every actor. Style "tuned": put once per round where
it is larger than what Ray passes inline (with 51 agents or more); below, a put costs more than it saves.
"""

import ray

from workloads import ray_session
from workloads.multi_agent.task import Task
from workloads.multi_agent.traffic_junction import Observation
from workloads.probe import Probe

# The largest argument that Ray passes inline (its setting max_direct_call_object_size).
INLINE_LIMIT_BYTES = 100 * 1024


class Agent:
    """An agent and its policy."""

    def __init__(self, task: Task, agent: int) -> None:
        self.policy = task.make_policy(agent)

    def ready(self) -> None:
        """Return once the policy is made."""

    def act(self, observation: Observation) -> int:
        """The action for the joint observation."""
        return self.policy.act(observation)


def run(task: Task, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds on actors of this machine."""
    with ray_session.session(style, probe) as session:
        agents = session.keep(ray.remote(Agent).remote(task, agent) for agent in range(task.agents))
        episodes = task.make_episodes()
        ray.get([agent.ready.remote() for agent in agents])
        put = style == "tuned" and episodes.observation.nbytes > INLINE_LIMIT_BYTES
        probe.ready()
        for _ in range(task.total_rounds):
            observation = ray.put(episodes.observation) if put else episodes.observation
            actions = ray.get([agent.act.remote(observation) for agent in agents])
            rewards = episodes.step(actions)
            task.record(probe, actions, rewards)
            probe.round()
        task.record_state(probe, episodes)

"""Traffic Junction with the agents as actors in shares, one per core. The driver is the hub."""

import pickle

from workloads.actors.members import Members
from workloads.actors.system import load
from workloads.multi_agent.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, system: str) -> None:
    """Run all rounds of the task on an actor system, reporting to the probe."""
    with load(system)(probe) as actors:
        agents = Members(actors, task.make_policy, ((agent,) for agent in range(task.agents)))
        episodes = task.make_episodes()
        agents.await_actors(lambda _share: len(pickle.dumps(episodes.message, protocol=5)))
        probe.ready()
        for _ in range(task.total_rounds):
            actions = agents.gather("act", episodes.message)
            rewards = episodes.step(actions)
            if probe.verifying:
                task.record(probe.digest, actions, rewards)
            probe.round()
        probe.state(task.final_state(episodes))

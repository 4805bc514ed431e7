"""Traffic Junction as a plain loop."""

from workloads.multi_agent.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds in this thread."""
    policies = [task.make_policy(agent) for agent in range(task.agents)]
    episodes = task.make_episodes()
    probe.ready()
    for _ in range(task.total_rounds):
        observation = episodes.message
        actions = [policy.act(observation) for policy in policies]
        rewards = episodes.step(actions)
        if probe.verifying:
            task.record(probe.digest, actions, rewards)
        probe.round()
    probe.state(task.final_state(episodes))

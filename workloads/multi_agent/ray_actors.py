"""The Ray actors of Traffic Junction, however they are called."""

from workloads.multi_agent.episodes import Message
from workloads.multi_agent.task import Task


class Agent:
    """An agent and its policy."""

    def __init__(self, task: Task, agent: int) -> None:
        self.policy = task.make_policy(agent)

    def act(self, observation: Message) -> int:
        """The action for the joint observation."""
        return self.policy.act(observation)

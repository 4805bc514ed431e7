"""Traffic Junction as reactors: a hub with the environment, a bank of agents, a microstep per round."""

from reactorlib import Bank, ExecutorName, Input, Output, Reactor, connect, reaction, startup
from reactorlib import run as run_reactors
from workloads.multi_agent.episodes import Message
from workloads.multi_agent.task import Task
from workloads.probe import Probe


class Agent(Reactor):
    """An agent and its policy."""

    observation = Input[Message]()
    ready = Output[bool]()
    action = Output[int]()

    def __init__(self, task: Task) -> None:
        self.task = task

    @reaction(startup, effects=ready)
    def begin(self, ready: Output[bool]) -> None:
        """Make the policy."""
        self.policy = self.task.make_policy(self.bank_index)
        ready.set(True)

    @reaction(observation, effects=action)
    def act(self, observation: Input[Message], action: Output[int]) -> None:
        """Answer the joint observation."""
        action.set(self.policy.act(observation.value))


class Hub(Reactor):
    """The environment, which also counts the rounds."""

    ready = Input[bool](width=lambda task: task.agents)
    action = Input[int](width=lambda task: task.agents)
    observation = Output[Message]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.episodes = task.make_episodes()
        self.rounds = 0

    @reaction(ready, effects=observation)
    def begin(self, _ready: Input[bool], observation: Output[Message]) -> None:
        """Every agent has its policy: broadcast the first observation."""
        self.probe.ready()
        observation.set(self.episodes.message)

    @reaction(action, effects=observation)
    def step(self, action: Input[int], observation: Output[Message]) -> None:
        """Step with the joint action and broadcast what is seen then."""
        actions = [channel.value for channel in action]
        rewards = self.episodes.step(actions)
        if self.probe.verifying:
            self.task.record(self.probe.digest, actions, rewards)
        self.probe.round()
        self.rounds += 1
        if self.rounds < self.task.total_rounds:
            observation.set(self.episodes.message)
        else:
            self.probe.state(self.task.final_state(self.episodes))


class MultiAgent(Reactor):
    """The program."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.agents = Bank(Agent, task.agents, task)
        connect(self.agents.ready, self.hub.ready)
        connect(self.hub.observation, self.agents.observation, after=0)  # broadcast
        connect(self.agents.action, self.hub.action)  # gather


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds on the given executor."""
    run_reactors(MultiAgent, task=task, probe=probe, executor=executor, workers=workers)

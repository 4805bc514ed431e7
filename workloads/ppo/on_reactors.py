"""PPO as reactors: a learner and a bank of players, a microstep per step of the environments."""

from reactorlib import Bank, ExecutorName, Input, Output, Reactor, connect, reaction, startup
from reactorlib import run as run_reactors
from workloads.ppo.player import Actions, Player, Reply, joined
from workloads.ppo.task import Task
from workloads.probe import Probe


class Env(Reactor):
    """A player."""

    actions = Input[Actions]()
    first = Output[Reply]()
    reply = Output[Reply]()

    def __init__(self, task: Task) -> None:
        self.task = task

    @reaction(startup, effects=first)
    def begin(self, first: Output[Reply]) -> None:
        """Make the environment."""
        self.player = Player(self.task, self.bank_index)
        first.set(self.player.begin())

    @reaction(actions, effects=reply)
    def step(self, actions: Input[Actions], reply: Output[Reply]) -> None:
        """Do what the learner says."""
        reply.set(self.player.step(actions.value))


class Hub(Reactor):
    """The learner, which also counts steps and rounds."""

    first = Input[Reply](width=lambda task: task.actors)
    replies = Input[Reply](width=lambda task: task.actors)
    actions = Output[Actions]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.learner = task.make_learner()
        self.steps = self.rounds = 0

    @reaction(first, effects=actions)
    def begin(self, first: Input[Reply], actions: Output[Actions]) -> None:
        """Every player has its environment: broadcast the first actions."""
        self.learner.begin(joined([channel.value for channel in first]))
        self.probe.ready()
        actions.set(self.learner.act())

    @reaction(replies, effects=actions)
    def gather(self, replies: Input[Reply], actions: Output[Actions]) -> None:
        """See what came of the actions, learn where a round ends, and broadcast the next ones."""
        self.learner.see(joined([channel.value for channel in replies]))
        self.steps += 1
        if self.steps == self.task.steps:
            if self.probe.verifying:
                self.task.record(self.probe.digest, self.learner)
            self.learner.learn()
            self.probe.round()
            self.steps = 0
            self.rounds += 1
        if self.rounds < self.task.total_rounds:
            actions.set(self.learner.act())
        else:
            self.probe.state(self.learner.final_state())


class PPO(Reactor):
    """The program."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.envs = Bank(Env, task.actors, task)
        connect(self.envs.first, self.hub.first)
        connect(self.hub.actions, self.envs.actions, after=0)  # broadcast
        connect(self.envs.reply, self.hub.replies)  # gather


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds on the given executor."""
    run_reactors(PPO, task=task, probe=probe, executor=executor, workers=workers)

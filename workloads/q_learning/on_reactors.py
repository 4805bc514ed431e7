"""Q-learning as reactors: learner -> bank of rollouts -> replay buffer -> learner, a microstep per round."""

from reactorlib import Bank, ExecutorName, Input, Output, Reactor, connect, reaction, startup
from reactorlib import run as run_reactors
from workloads.probe import Probe
from workloads.q_learning.task import Task
from workloads.q_learning.transition import Drawn, Parameters, Trajectory


class Rollout(Reactor):
    """A rollout worker."""

    parameters = Input[Parameters]()
    ready = Output[bool]()
    trajectory = Output[Trajectory]()

    def __init__(self, task: Task) -> None:
        self.task = task

    @reaction(startup, effects=ready)
    def begin(self, ready: Output[bool]) -> None:
        """Make the environment."""
        self.worker = self.task.make_rollout_worker(self.bank_index)
        ready.set(True)

    @reaction(parameters, effects=trajectory)
    def roll(self, parameters: Input[Parameters], trajectory: Output[Trajectory]) -> None:
        """Play with the new parameters."""
        trajectory.set(self.worker.roll(parameters.value))


class Replay(Reactor):
    """The replay buffer."""

    trajectory = Input[Trajectory](width=lambda task: task.actors)
    exchange = Output[Drawn]()

    def __init__(self, task: Task) -> None:
        self.buffer = task.make_replay_buffer()

    @reaction(trajectory, effects=exchange)
    def append(self, trajectory: Input[Trajectory], exchange: Output[Drawn]) -> None:
        """Append what all workers produced and draw a minibatch."""
        exchange.set(self.buffer.exchange([channel.value for channel in trajectory]))


class Learner(Reactor):
    """The learner, who also counts the rounds."""

    ready = Input[bool](width=lambda task: task.actors)
    exchange = Input[Drawn]()
    parameters = Output[Parameters]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.learner = task.make_learner()
        self.rounds = 0

    @reaction(ready, effects=parameters)
    def begin(self, _ready: Input[bool], parameters: Output[Parameters]) -> None:
        """Every worker has its environment: broadcast the initial parameters."""
        self.probe.ready()
        parameters.set(self.learner.parameters())

    @reaction(exchange, effects=parameters)
    def learn(self, exchange: Input[Drawn], parameters: Output[Parameters]) -> None:
        """Learn from the minibatch and broadcast what was learnt."""
        minibatch, rewards = exchange.value
        self.learner.learn(minibatch)
        if self.probe.verifying:
            self.task.record(self.probe.digest, rewards, self.learner)
        self.probe.round()
        self.rounds += 1
        if self.rounds < self.task.total_rounds:
            parameters.set(self.learner.parameters())
        else:
            self.probe.state(self.learner.final_state())


class QLearning(Reactor):
    """The program."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.rollout = Bank(Rollout, task.actors, task)
        self.replay = Replay(task)
        self.learner = Learner(task, probe)
        connect(self.rollout.ready, self.learner.ready)
        connect(self.learner.parameters, self.rollout.parameters, after=0)  # broadcast
        connect(self.rollout.trajectory, self.replay.trajectory)  # gather
        connect(self.replay.exchange, self.learner.exchange)


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds on the given executor."""
    run_reactors(QLearning, task=task, probe=probe, executor=executor, workers=workers)

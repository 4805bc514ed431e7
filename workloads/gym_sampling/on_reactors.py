"""Sampling with one reactor per environment."""

from reactorlib import Bank, ExecutorName, Input, Output, Reactor, connect, reaction, startup
from reactorlib import run as run_reactors
from workloads.probe import Probe
from workloads.sampling import Reply, Sampler, SamplingTask


class Client(Reactor):
    """One environment."""

    step = Input[int]()
    ready = Output[bool]()
    reply = Output[Reply]()

    def __init__(self, task: SamplingTask) -> None:
        self.task = task

    @reaction(startup, effects=ready)
    def begin(self, ready: Output[bool]) -> None:
        """Make the environment."""
        self.sampler = Sampler(self.task, self.bank_index)
        ready.set(True)

    @reaction(step, effects=reply)
    def sample(self, step: Input[int], reply: Output[Reply]) -> None:
        """Answer a message from the hub."""
        reply.set(self.sampler.step_message(step.value))


class Hub(Reactor):
    """Broadcasts the step number and gathers the replies."""

    ready = Input[bool](width=lambda task: task.actors)
    replies = Input[Reply](width=lambda task: task.actors)
    step = Output[int]()

    def __init__(self, task: SamplingTask, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.total_rounds = task.total_rounds
        self.round_index = 0

    @reaction(ready, effects=step)
    def begin(self, _ready: Input[bool], step: Output[int]) -> None:
        """Every client has its environment: send the first step number."""
        self.probe.ready()
        step.set(0)

    @reaction(replies, effects=step)
    def gather(self, replies: Input[Reply], step: Output[int]) -> None:
        """Take a round's replies and send the next step number."""
        values = [reply.value for reply in replies]
        if self.probe.verifying:
            self.task.record(self.probe.digest, values)
        self.probe.round()
        self.round_index += 1
        if self.round_index < self.total_rounds:
            step.set(self.round_index * self.task.steps_per_message)
        else:
            self.probe.state(self.task.final_state(values))


class Sampling(Reactor):
    """A hub and its clients."""

    def __init__(self, task: SamplingTask, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.clients = Bank(Client, task.actors, task)
        connect(self.clients.ready, self.hub.ready)
        connect(self.hub.step, self.clients.step, after=0)
        connect(self.clients.reply, self.hub.replies)


def run(task: SamplingTask, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    run_reactors(Sampling, executor=executor, workers=workers, task=task, probe=probe)

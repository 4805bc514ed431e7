"""Counting as two reactors of xronos."""

import xronos

from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.overhead.xronos_reactors import Handler
from workloads.probe import Probe


class Producer(xronos.Reactor):
    """Sends increments, then asks for their sum."""

    again = xronos.ProgrammableTimerDeclaration[None]()
    total = xronos.InputPortDeclaration[int]()
    increment = xronos.OutputPortDeclaration[int]()
    retrieve = xronos.OutputPortDeclaration[bool]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.rounds = Rounds(task, probe)
        self.messages = task.messages_per_round
        self.sent = 0

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Begin."""
        context.add_trigger(self.startup)
        again = context.add_effect(self.again)

        def handler() -> None:
            self.rounds.probe.ready()
            again.schedule(None)

        return handler

    @xronos.reaction
    def send(self, context: xronos.ReactionContext) -> Handler:
        """Send the next increment, or ask for the sum."""
        context.add_trigger(self.again)
        increment = context.add_effect(self.increment)
        retrieve = context.add_effect(self.retrieve)
        again = context.add_effect(self.again)

        def handler() -> None:
            if self.sent < self.messages:
                self.sent += 1
                increment.set(self.sent)
                again.schedule(None)
            else:
                self.sent = 0
                retrieve.set(True)

        return handler

    @xronos.reaction
    def receive(self, context: xronos.ReactionContext) -> Handler:
        """Begin the next round."""
        total = context.add_trigger(self.total)
        again = context.add_effect(self.again)

        def handler() -> None:
            if self.rounds.more(total.get()):
                again.schedule(None)

        return handler


class Counter(xronos.Reactor):
    """Sums what it is given."""

    increment = xronos.InputPortDeclaration[int]()
    retrieve = xronos.InputPortDeclaration[bool]()
    total = xronos.OutputPortDeclaration[int]()

    def __init__(self) -> None:
        super().__init__()
        self.sum = 0

    @xronos.reaction
    def add(self, context: xronos.ReactionContext) -> Handler:
        """Count an increment."""
        increment = context.add_trigger(self.increment)

        def handler() -> None:
            self.sum += increment.get()

        return handler

    @xronos.reaction
    def report(self, context: xronos.ReactionContext) -> Handler:
        """Tell the sum so far."""
        context.add_trigger(self.retrieve)
        total = context.add_effect(self.total)
        return lambda: total.set(self.sum)


def run(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    producer = environment.create_reactor("producer", Producer, task, probe)
    counter = environment.create_reactor("counter", Counter)
    environment.connect(producer.increment, counter.increment)
    environment.connect(producer.retrieve, counter.retrieve)
    environment.connect(counter.total, producer.total)
    environment.execute()

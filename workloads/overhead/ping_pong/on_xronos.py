"""Ping-pong as two reactors of xronos."""

import xronos

from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.overhead.xronos_reactors import NEXT_MICROSTEP, Handler, Member
from workloads.probe import Probe


class Ping(xronos.Reactor):
    """Serves, and returns what it is returned."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.mark = task.seed + task.messages_per_round

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Serve."""
        context.add_trigger(self.startup)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            self.rounds.probe.ready()
            passed.set(self.task.seed)

        return handler

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Return the ball until the last round is over."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            value = taken.get()
            if value == self.mark:
                self.mark += self.task.messages_per_round
                if not self.rounds.more(value):
                    return
            passed.set(value)

        return handler


def run(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    ping = environment.create_reactor("ping", Ping, task, probe)
    pong = environment.create_reactor("pong", Member, 0)
    environment.connect(ping.passed, pong.taken)
    environment.connect(pong.passed, ping.taken, NEXT_MICROSTEP)
    environment.execute()

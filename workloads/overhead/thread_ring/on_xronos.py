"""A ring of reactors of xronos, in which every hop is an event."""

import datetime as dt

import xronos

from workloads.overhead.rounds import Rounds
from workloads.overhead.task import Task
from workloads.overhead.xronos_reactors import NEXT_MICROSTEP, Handler, Member
from workloads.probe import Probe


class Starter(xronos.Reactor):
    """The first member of a ring: starts the token and counts its laps."""

    taken = xronos.InputPortDeclaration[int]()
    passed = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.step = 1
        self.round_sum = task.messages_per_round * sum(range(1, task.actors + 1))
        self.mark = task.seed + self.round_sum

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Start the token."""
        context.add_trigger(self.startup)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            self.rounds.probe.ready()
            passed.set(self.task.seed + self.step)

        return handler

    @xronos.reaction
    def take(self, context: xronos.ReactionContext) -> Handler:
        """Pass the token on until the last round is over."""
        taken = context.add_trigger(self.taken)
        passed = context.add_effect(self.passed)

        def handler() -> None:
            value = taken.get()
            if value == self.mark:
                self.mark += self.round_sum
                if not self.rounds.more(value):
                    return
            passed.set(value + self.step)

        return handler


def run(task: Task, probe: Probe, environment: xronos.Environment, hop: dt.timedelta | None = NEXT_MICROSTEP) -> None:
    """Run all rounds of the task, reporting to the probe. `hop`: the delay between members, or None for the same tag.
    The way back is always an event."""
    starter = environment.create_reactor("starter", Starter, task, probe)
    last = starter.passed
    for index in range(1, task.actors):
        member = environment.create_reactor(f"member_{index}", Member, index)
        environment.connect(last, member.taken, hop)
        last = member.passed
    environment.connect(last, starter.taken, NEXT_MICROSTEP)
    environment.execute()

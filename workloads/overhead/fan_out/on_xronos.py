"""Fan-out as reactors of xronos.

Its ports have no width and its reactors no banks: a hub has as many ports as clients, made when it is defined.
"""

import xronos

from workloads.overhead.rounds import Rounds
from workloads.overhead.task import SUM_MODULUS, Task
from workloads.overhead.xronos_reactors import NEXT_MICROSTEP, Handler, Member
from workloads.probe import Probe


class Hub(xronos.Reactor):
    """Broadcasts a value and gathers the replies; a subclass has the ports for them."""

    value = xronos.OutputPortDeclaration[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__()
        self.task = task
        self.rounds = Rounds(task, probe)
        self.left = task.messages_per_round
        self.replies = [getattr(self, name) for name in _replies(task)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Handler:
        """Send the first value."""
        context.add_trigger(self.startup)
        value = context.add_effect(self.value)

        def handler() -> None:
            self.rounds.probe.ready()
            value.set(self.task.seed)

        return handler

    @xronos.reaction
    def gather(self, context: xronos.ReactionContext) -> Handler:
        """Send the last client's reply to all; at a round's end, the sum of the replies."""
        replies = [context.add_trigger(port) for port in self.replies]
        value = context.add_effect(self.value)

        def handler() -> None:
            self.left -= 1
            if self.left:
                value.set(replies[-1].get())
                return
            self.left = self.task.messages_per_round
            total = sum(reply.get() for reply in replies) % SUM_MODULUS
            if self.rounds.more(total):
                value.set(total)

        return handler


def run(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    ports = {name: xronos.InputPortDeclaration[int]() for name in _replies(task)}
    hub = environment.create_reactor("hub", type("HubOfAll", (Hub,), ports), task, probe)
    for index, reply in enumerate(hub.replies):
        client = environment.create_reactor(f"client_{index}", Member, index)
        environment.connect(hub.value, client.taken, NEXT_MICROSTEP)
        environment.connect(client.passed, reply)
    environment.execute()


def _replies(task: Task) -> list[str]:
    return [f"reply_{index}" for index in range(task.actors)]

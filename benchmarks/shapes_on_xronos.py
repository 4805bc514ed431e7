"""The shapes that xronos is compared on, with the same reactions, connections and stopping rule as in `shapes`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import xronos
from xronos.experimental import InputPort

from benchmarks.meter import Meter

NOW = timedelta(0)


class Client(xronos.Reactor):
    """Answers with what it is asked."""

    request = xronos.InputPortDeclaration[int]()
    reply = xronos.OutputPortDeclaration[int]()

    @xronos.reaction
    def serve(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Answer."""
        request = context.add_trigger(self.request)
        reply = context.add_effect(self.reply)
        return lambda: reply.set(request.get())


class Hub(xronos.Reactor):
    """Asks all clients, and adds up what they answer."""

    request = xronos.OutputPortDeclaration[int]()

    def __init__(self, meter: Meter, clients: int) -> None:
        super().__init__()
        self.meter = meter
        self.left = meter.warmup
        self.total = 0
        self.replies = [InputPort[int](f"reply_{index}", self) for index in range(clients)]

    @xronos.reaction
    def begin(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Ask for the first time."""
        context.add_trigger(self.startup)
        request = context.add_effect(self.request)
        return lambda: request.set(1)

    @xronos.reaction
    def gather(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Add up, and ask again."""
        replies = [context.add_trigger(reply) for reply in self.replies]
        request = context.add_effect(self.request)
        stop = context.add_effect(self.shutdown)

        def handle() -> None:
            total = 0
            for reply in replies:
                total += reply.get()
            self.total = total
            self.left -= 1
            if not self.left:
                self.left = self.meter.next_lap()
                if not self.left:
                    stop.trigger_shutdown()
                    return
            request.set(1)

        return handle


class Ping(xronos.Reactor):
    """Serves, and returns what comes back."""

    back = xronos.InputPortDeclaration[int]()
    ball = xronos.OutputPortDeclaration[int]()

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self.meter = meter
        self.left = meter.warmup

    @xronos.reaction
    def serve(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """The first ball."""
        context.add_trigger(self.startup)
        ball = context.add_effect(self.ball)
        return lambda: ball.set(0)

    @xronos.reaction
    def play(self, context: xronos.ReactionContext) -> Callable[[], None]:
        """Return the ball."""
        back = context.add_trigger(self.back)
        ball = context.add_effect(self.ball)
        stop = context.add_effect(self.shutdown)

        def handle() -> None:
            self.left -= 1
            if not self.left:
                self.left = self.meter.next_lap()
                if not self.left:
                    stop.trigger_shutdown()
                    return
            ball.set(back.get())

        return handle


def run_fan_out(meter: Meter, clients: int) -> None:
    """A tag is a broadcast and its gathering: `clients` + 1 reactions."""
    environment = xronos.Environment(fast=True)
    hub = environment.create_reactor("hub", Hub, meter, clients)
    for index in range(clients):
        client = environment.create_reactor(f"client_{index}", Client)
        environment.connect(hub.request, client.request, delay=NOW)
        environment.connect(client.reply, hub.replies[index])
    environment.execute()


def run_ping_pong(meter: Meter) -> None:
    """A tag is one exchange: 2 reactions."""
    environment = xronos.Environment(fast=True)
    ping = environment.create_reactor("ping", Ping, meter)
    pong = environment.create_reactor("pong", Client)
    environment.connect(ping.ball, pong.request)
    environment.connect(pong.reply, ping.back, delay=NOW)
    environment.execute()

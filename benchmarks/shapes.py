"""The shapes whose cost per reaction is measured, as reactor programs. All take a Meter and end when it says so."""

from __future__ import annotations

from benchmarks.meter import Meter
from reactorlib import Bank, Input, LogicalAction, Output, Reactor, Timer, connect, reaction, request_stop, startup


class Metered(Reactor):
    """Counts down the rounds that are `left` of a lap, and asks a meter for the next."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.left = meter.warmup

    def is_over(self) -> bool:
        """At the end of a lap, begin the next one, or stop. Return whether this lap was the last."""
        self.left = self.meter.next_lap()
        if not self.left:
            request_stop()
        return not self.left


class Client(Reactor):
    """Replies with the value of the request."""

    request = Input[int]()
    reply = Output[int]()

    @reaction(request, effects=reply)
    def serve(self, request: Input[int], reply: Output[int]) -> None:
        reply.set(request.value)


class Hub(Metered):
    """Asks all clients, and adds up what they answer."""

    replies = Input[int](width="clients")
    request = Output[int]()

    def __init__(self, meter: Meter, clients: int) -> None:
        super().__init__(meter)
        self.total = 0

    @reaction(startup, effects=request)
    def begin(self, request: Output[int]) -> None:
        request.set(1)

    @reaction(replies, effects=request)
    def gather(self, replies: Input[int], request: Output[int]) -> None:
        total = 0
        for reply in replies:
            total += reply.value
        self.total = total
        self.left -= 1
        if not self.left and self.is_over():
            return
        request.set(1)


class FanOut(Reactor):
    """A tag is a broadcast and its gathering: `clients` + 1 reactions."""

    def __init__(self, meter: Meter, clients: int) -> None:
        self.hub = Hub(meter, clients)
        self.clients = Bank(Client, clients)
        connect(self.hub.request, self.clients.request, after=0)
        connect(self.clients.reply, self.hub.replies)


class Ping(Metered):
    """Serves, and returns what comes back."""

    back = Input[int]()
    ball = Output[int]()

    @reaction(startup, effects=ball)
    def serve(self, ball: Output[int]) -> None:
        ball.set(0)

    @reaction(back, effects=ball)
    def play(self, back: Input[int], ball: Output[int]) -> None:
        self.left -= 1
        if not self.left and self.is_over():
            return
        ball.set(back.value)


class PingPong(Reactor):
    """A tag is one exchange: 2 reactions."""

    def __init__(self, meter: Meter) -> None:
        self.ping = Ping(meter)
        self.pong = Client()
        connect(self.ping.ball, self.pong.request)
        connect(self.pong.reply, self.ping.back, after=0)


class Chain(Reactor):
    """A tag is a value's way along `length` clients and back: `length` + 1 reactions."""

    def __init__(self, meter: Meter, length: int) -> None:
        self.ping = Ping(meter)
        self.links = Bank(Client, length)
        outputs = [self.ping.ball, *(link.reply for link in self.links)]
        connect(outputs[:-1], self.links.request)
        connect(outputs[-1], self.ping.back, after=0)


class Loop(Reactor):
    """A tag is a value on a connection from a reactor to itself, `after` 0: 1 reaction."""

    def __init__(self, meter: Meter) -> None:
        self.ping = Ping(meter)
        connect(self.ping.ball, self.ping.back, after=0)


class ActionLoop(Metered):
    """A tag is one event of a logical action, which schedules the next: 1 reaction."""

    again = LogicalAction[int](min_delay="delay")

    def __init__(self, meter: Meter, delay: int = 0) -> None:
        super().__init__(meter)

    @reaction(startup, effects=again)
    def begin(self, again: LogicalAction[int]) -> None:
        again.schedule(value=0)

    @reaction(again, effects=again)
    def step(self, again: LogicalAction[int]) -> None:
        self.left -= 1
        if not self.left and self.is_over():
            return
        again.schedule(value=0)


class Ticker(Reactor):
    """One timer of many; its tag is its own where no other ticker has the same offset."""

    tick = Timer(offset=lambda bank_index, slot, first: first + slot * bank_index, period="period")

    def __init__(self, period: int, slot: int, first: int) -> None:
        self.ticks = 0

    @reaction(tick)
    def count(self, tick: Timer) -> None:
        self.ticks += 1


class MeteredTicker(Metered):
    """A timer that counts tags for the meter."""

    tick = Timer(offset="offset", period="period")

    def __init__(self, meter: Meter, offset: int, period: int) -> None:
        super().__init__(meter)

    @reaction(tick)
    def count(self, tick: Timer) -> None:
        self.left -= 1
        if not self.left:
            self.is_over()

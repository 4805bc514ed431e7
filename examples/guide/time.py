"""A timer, a connection that takes time and one that takes a microstep."""

from reactorlib import MSEC, Input, Output, Reactor, Timer, connect, current_tag, reaction, run


class Source(Reactor):
    """Sends a number every 10 ms."""

    tick = Timer(offset=0, period=10 * MSEC)
    out = Output[int]()

    def __init__(self) -> None:
        self.sent = 0

    @reaction(tick, effects=out)
    def send(self, tick: Timer, out: Output[int]) -> None:
        self.sent += 1
        out.set(self.sent)


class Sink(Reactor):
    """Says at which tag what arrives."""

    inp = Input[int]()

    def __init__(self, name: str) -> None:
        self.name = name

    @reaction(inp)
    def receive(self, inp: Input[int]) -> None:
        print(f"{current_tag()} {self.name}: {inp.value}")


class Main(Reactor):
    """One source, three ways to a sink."""

    def __init__(self) -> None:
        self.source = Source()
        self.same, self.next, self.late = Sink("same tag"), Sink("next microstep"), Sink("3 ms later")
        connect(self.source.out, self.same.inp)
        connect(self.source.out, self.next.inp, after=0)
        connect(self.source.out, self.late.inp, after=3 * MSEC)


if __name__ == "__main__":
    run(Main, timeout=13 * MSEC, fast=True)

"""Reactors that many tests connect: a source of given values, readers that report, reactions that only run."""

import time
from collections.abc import Callable
from typing import Any

from reactorlib import ABSENT, MSEC, Bank, Input, LogicalAction, Output, Reactor, connect, reaction, startup


def noted(*triggers: Any, **roles: Any) -> Any:
    """A reaction that does nothing. The trace shows when it ran."""
    return reaction(*triggers, **roles)(lambda self, *elements: None)


class Source(Reactor):
    """Sends the values, one at startup and one after each period. Nothing is sent in the turn of ABSENT."""

    out = Output[Any]()
    again = LogicalAction(min_delay="period")

    def __init__(self, *values: Any, period: int = 1 * MSEC):
        self.left = list(values)

    @reaction(startup, again, effects=[out, again])
    def send(self, again, out):
        value = self.left.pop(0)
        if value is not ABSENT:
            out.set(value)
        if self.left:
            again.schedule()


class WideSource(Reactor):
    """Sends each value on a channel of its own at startup."""

    out = Output[Any](width=lambda values: len(values))  # noqa: PLW0108  # len names no parameter

    def __init__(self, *values: Any):
        self.values = values

    @reaction(startup, effects=out)
    def send(self, out):
        for port, value in zip(out, self.values, strict=True):
            port.set(value)


class Working(Reactor):
    """Takes 5 ms at startup before it sends 1."""

    out = Output[int]()

    @reaction(startup, effects=out)
    def work(self, out):
        until = time.monotonic() + 0.005
        while time.monotonic() < until:
            pass
        out.set(1)


class Sink(Reactor):
    """Reports each value that arrives, or what a function makes of it."""

    inp, seen = Input[Any](), Output[Any]()

    def __init__(self, look: Callable[[Any], Any] = lambda value: value):
        self.look = look

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(self.look(inp.value))


class WideSink(Reactor):
    """Reports the values of all channels whenever one of them is present."""

    inp, seen = Input[Any](width="width"), Output[tuple[Any, ...]]()

    def __init__(self, width: int): ...

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(tuple(inp.value))


class Relay(Reactor):
    """Passes on what arrives, and 1 at startup unless it is quiet."""

    inp, out = Input[Any](), Output[Any]()

    def __init__(self, quiet: bool = False):
        self.quiet = quiet

    @reaction(startup, inp, effects=out)
    def step(self, inp, out):
        if inp.is_present:
            out.set(inp.value)
        elif not self.quiet:
            out.set(1)


class Reader(Reactor):
    """Looks at its input several times, whether anything is there or not, and reports its presence and its value."""

    inp = Input[Any]()
    again = LogicalAction(min_delay="period")
    seen = Output[tuple[bool, Any]]()

    def __init__(self, looks: int, period: int = 1 * MSEC):
        self.looks = looks

    @reaction(startup, again, uses=inp, effects=[again, seen])
    def look(self, again, inp, seen):
        seen.set((inp.is_present, inp.value))
        self.looks -= 1
        if self.looks:
            again.schedule()


class Pair(Reactor):
    """A source and a reader of its output."""

    def __init__(self, source: Callable[[], Any], reader: Callable[[], Any] = Sink, **connection: Any):
        self.source, self.reader = source(), reader()
        connect(self.source.out, self.reader.inp, **connection)


class Members(Reactor):
    """A bank, and nothing else."""

    def __init__(self, kind: type[Reactor], count: int, arguments: tuple[Any, ...] = ()):
        self.members = Bank(kind, count, *arguments)

"""Reactors for programs with static errors, and the faults that elaboration reports for such a program."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from reactorlib import MSEC, Bank, Input, Mode, Output, Reactor, State, Timer, connect, elaborate, run, startup
from reactorlib.errors import ElaborationError
from tests.reactorlib.conformance.reactors import Relay, noted


class Source(Reactor):
    out, wide = Output[int](), Output[int](width=2)
    begin = noted(startup, effects=[out, wide])


class Sink(Reactor):
    inp, wide = Input[int](), Input[int](width=2)
    hear = noted(inp, wide)


class Box(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()


class Pass(Reactor):
    """Connects its input to its output, in a mode or not."""

    inp, out = Input[int](), Output[int]()
    mode = Mode(initial=True)

    def __init__(self, in_mode: bool):
        with self.mode if in_mode else nullcontext():
            connect(self.inp, self.out)


class Expressions(Reactor):
    out, inp = Output[int](width=lambda n: n - 2), Input[int](width=lambda n: 1 // (n - 2))
    tick = Timer(lambda n: 1 // (n - 2))
    beat = noted(tick, deadline=lambda n: 1 // (n - 2))

    def __init__(self, n: int = 2): ...


class InputAsTarget(Reactor):
    inp = Input[int]()

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.inp)


class Unstateable(Reactor):
    count = State(lambda n: n)


PARTS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("source", "left", "right"), Source),
    **dict.fromkeys(("first", "second", "third", "outside"), Relay),
    **dict.fromkeys(("passing", "back"), lambda: Pass(in_mode=False)),
    **dict.fromkeys(("guarded", "guarding"), lambda: Pass(in_mode=True)),
    "sources": lambda: Bank(Source, 3),
    "sink": Sink,
    "sinks": lambda: Bank(Sink, 3),
    "box": Box,
    "inner": InputAsTarget,
    "held": Unstateable,
    "expressions": lambda: Bank(Expressions, 2),
}
DELAY = {"": {}, "1": {"after": 1 * MSEC}, "-1": {"after": -1 * MSEC}}


def wired(wiring: str) -> type[Reactor]:
    """A program of the parts that are named, with connections such as "left.out > sink.inp after 1"."""

    def construct(main: Any) -> None:
        for name in re.findall(r"(?<![.\w])[a-z]\w*", wiring):
            if name in PARTS and not hasattr(main, name):
                setattr(main, name, PARTS[name]())
        for source, target, after in re.findall(r"(\S+) > ([^\s,]+)(?: after ([-\d]+))?", wiring):
            connect(*(eval(f"main.{port}", {"main": main}) for port in (source, target)), **DELAY[after])

    return declaring(__init__=construct)


def declaring(**elements: Any) -> type[Reactor]:
    return type("Main", (Reactor,), elements)


def faults_of(main: Any) -> str:
    """The whole message. Nothing may have run, whether the program is elaborated alone or by `run`."""
    with pytest.raises(ElaborationError) as caught:
        elaborate(main)
    with pytest.raises(ElaborationError) as again:
        run(main, fast=True, timeout=1 * MSEC)
    assert str(again.value) == str(caught.value)
    return str(caught.value)


def lacking(message: str, words: str) -> list[str]:
    return [word for word in words.split() if word not in message]

"""What a program leaves behind: nothing keeps its classes once nobody holds them."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from reactorlib import MSEC, Bank, Input, Mode, Output, Reactor, Timer, connect, reaction
from reactorlib.cpus import gil_enabled
from tests.reactorlib.observing import Execute


def left_by_a_run(execute: Execute) -> list[ref[type]]:
    class Source(Reactor):
        tick = Timer(period=1 * MSEC)
        out = Output[list[int]]()
        only = Mode(initial=True)

        @reaction(tick, effects=out, deadline=1000 * MSEC)
        def beat(self, tick, out) -> None:
            out.set([1, 2])

        @beat.missed
        def late(self, tick, out) -> None: ...

    class Sink(Reactor):
        inp = Input[list[int]](mutable=True)

        @reaction(inp)
        def hear(self, inp) -> None:
            inp.value.append(3)

    class Main(Reactor):
        def __init__(self) -> None:
            self.sources, self.sinks = Bank(Source, 2), Bank(Sink, 2)
            connect(self.sources.out, self.sinks.inp)

    assert len(execute(Main, timeout=5 * MSEC).trace) == 24
    return [ref(Source), ref(Sink), ref(Main)]


@pytest.mark.skipif(not gil_enabled(), reason="free-threaded 3.13 never frees functions once a thread was started")
def test_a_class_of_a_function_is_collected_after_its_run(execute: Execute) -> None:
    left = left_by_a_run(execute)
    gc.collect()
    assert [cls() for cls in left] == [None, None, None]

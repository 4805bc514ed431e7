"""The span that a prediction is made of is the critical path that the timeline shows."""

from __future__ import annotations

from reactorlib import MSEC, Input, Mode, Output, Reactor, Timer, connect, elaborate, reaction, run
from reactorlib.view.scaling import predict
from reactorlib.view.timeline import summarised
from reactorlib.worker.trace import Span


class Source(Reactor):
    tick = Timer(0, 1 * MSEC)
    out = Output[int]()

    @reaction(tick, effects=out)
    def give(self, tick, out) -> None:
        out.set(1)


class Sink(Reactor):
    inp = Input[int]()

    @reaction(inp)
    def take(self, inp) -> None: ...


class TwoWays(Reactor):
    """The sink hears one source in one mode, the other source in the other."""

    one = Mode(initial=True)
    two = Mode()

    def __init__(self) -> None:
        self.here, self.there, self.sink = Source(), Source(), Sink()
        with self.one:
            connect(self.here.out, self.sink.inp)
        with self.two:
            connect(self.there.out, self.sink.inp)


def test_a_connection_of_a_mode_makes_its_reader_wait() -> None:
    program = elaborate(TwoWays)
    spans = run(TwoWays, fast=True, timeout=0, trace=True).spans
    assert spans is not None
    assert len(spans) == 3
    even = [Span(span.reaction, span.tag, 0, 100, 0) for span in spans]
    prediction = predict(program, even)
    assert (prediction.work_ns, prediction.span_ns) == (300, 200)
    assert prediction.span_ns == summarised(program, even).critical_ns

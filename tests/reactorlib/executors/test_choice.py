"""`auto`: what it chooses and why; the costs of reactors that a traced run measures."""

from __future__ import annotations

import pytest

from reactorlib import Bank, Reactor, connect, elaborate, run, startup
from reactorlib.tag import Tag
from reactorlib.worker.trace import Span, costs_of
from tests.reactorlib.conformance.reactors import Relay, Source, WideSink, noted


class Alone(Reactor):
    begin = noted(startup)


class Farm(Reactor):
    def __init__(self) -> None:
        self.leaf = Bank(Relay, 4, quiet=True)
        self.start, self.hub, self.end = Alone(), Source(1), WideSink(4)
        connect(self.hub.out, self.leaf.inp)
        connect(self.leaf.out, self.end.inp)


def test_workers_are_used_where_something_can_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reactorlib.cpus.gil_enabled", lambda: True)
    result = run(Farm, executor="auto", workers=2)
    assert (result.executor, result.reason) == ("processes", "something can run side by side")


def test_where_nothing_can_run_side_by_side_it_is_inline() -> None:
    result = run(Alone, executor="auto", workers=2)
    assert (result.executor, result.reason) == ("inline", "nothing can run side by side")
    assert not run(Alone).reason


def test_neither_a_start_nor_one_long_span_of_many_is_a_cost() -> None:
    program = elaborate(Farm)
    index = {reaction.path: reaction.index for reaction in program.reactions}
    spans = [Span(index["Farm.start.begin"], Tag(0, 0), 0, 10**9, 0)]
    for tag in range(100):
        took = 10**9 if tag == 50 else tag
        spans.append(Span(index["Farm.leaf[0].step"], Tag(tag, 0), 0, took, 0))
    costs = costs_of(program, spans)
    assert costs == {"Farm.leaf[0]": sum(range(100)) - 50 + 99}

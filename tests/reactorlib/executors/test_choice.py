"""`auto`: what it chooses by what is known of the costs, and what it says of it."""

from __future__ import annotations

from typing import Any

import pytest

from reactorlib import Bank, Reactor, connect, elaborate, run, startup
from reactorlib.cpus import gil_enabled
from reactorlib.tag import Tag
from reactorlib.worker.trace import Costs, Span, costs_of
from tests.reactorlib.conformance.reactors import Relay, Source, WideSink, noted

US = 1000


class Alone(Reactor):
    begin = noted(startup)


class Farm(Reactor):
    def __init__(self) -> None:
        self.leaf = Bank(Relay, 4, quiet=True)
        self.start, self.hub, self.end = Alone(), Source(1), WideSink(4)
        connect(self.hub.out, self.leaf.inp)
        connect(self.leaf.out, self.end.inp)


def measured(leaf_us: float, tags: int = 100) -> Costs:
    costs = Costs({f"Farm.leaf[{number}]": leaf_us * US * tags for number in range(4)})
    costs.tags = dict.fromkeys(costs, tags)
    return costs


@pytest.mark.parametrize(
    ("costs", "chosen", "reason"),
    [
        (measured(1), "inline", "2 workers save 2 us a tag, and telling them costs 10 us"),
        (measured(100), "processes", "2 workers save 200 us a tag, and telling them costs 10 us"),
        (dict(measured(1)), "processes", "something can run side by side, and what it costs is not known"),
        (None, "processes", "something can run side by side, and what it costs is not known"),
    ],
)
def test_it_weighs_what_workers_save_against_what_telling_them_costs(
    costs: Any, chosen: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reactorlib.cpus.gil_enabled", lambda: True)
    result = run(Farm, executor="auto", workers=2, costs=costs)
    assert (result.executor, result.reason.partition(";")[0]) == (chosen, reason)


@pytest.mark.parametrize(
    ("platform", "gil", "chosen", "why"),
    [
        ("linux", True, "processes", "GIL is on"),
        ("linux", False, "threads", "without a GIL"),
        ("darwin", False, "threads", "without a GIL"),
        ("darwin", True, "threads", "processes need Linux"),
    ],
)
def test_it_says_why_it_takes_threads_or_processes(
    platform: str, gil: bool, chosen: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("reactorlib.cpus.gil_enabled", lambda: gil)
    result = run(Farm, executor="auto", workers=2, costs=measured(100))
    assert result.executor == chosen
    assert f"on {chosen}, as " in result.reason
    assert why in result.reason


@pytest.mark.skipif(gil_enabled(), reason="needs an interpreter without a GIL")
def test_without_a_gil_it_runs_on_threads_what_it_would_run_on_processes() -> None:
    expected = run(Farm, trace=True).digest
    result = run(Farm, executor="auto", workers=2, costs=measured(100), trace=True)
    assert (result.executor, result.digest) == ("threads", expected)
    assert "without a GIL" in result.reason
    assert run(Farm, executor="auto", workers=2, costs=measured(1)).executor == "inline"


def test_where_nothing_can_run_side_by_side_it_is_inline_whatever_it_costs() -> None:
    result = run(Alone, executor="auto", workers=2)
    assert (result.executor, result.reason) == ("inline", "nothing can run side by side")
    assert not run(Alone).reason


def test_a_traced_run_says_what_it_needs_to_know() -> None:
    costs = run(Farm, trace=True).costs
    assert costs is not None
    assert costs.tags == {"Farm.hub": 1, "Farm.end": 1, **{f"Farm.leaf[{number}]": 1 for number in range(4)}}
    result = run(Farm, executor="auto", workers=2, costs=costs)
    assert result.executor == "inline"


def test_neither_a_start_nor_one_long_span_of_many_is_a_cost() -> None:
    program = elaborate(Farm)
    index = {reaction.path: reaction.index for reaction in program.reactions}
    spans = [Span(index["Farm.start.begin"], Tag(0, 0), 0, 10**9, 0)]
    for tag in range(100):
        took = 10**9 if tag == 50 else tag
        spans.append(Span(index["Farm.leaf[0].step"], Tag(tag, 0), 0, took, 0))
    costs = costs_of(program, spans)
    assert costs == {"Farm.leaf[0]": sum(range(100)) - 50 + 99}
    assert costs.tags == {"Farm.leaf[0]": 100}

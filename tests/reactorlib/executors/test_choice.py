"""`auto` chooses an executor and reports its reason, and any executor that some workers have nothing to do."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest

from reactorlib import MSEC, Bank, Input, Output, Reactor, RunError, Session, Timer, connect, reaction, run, startup
from reactorlib.cpus import gil_enabled
from tests.reactorlib.conformance.reactors import Relay, Source, WideSink, noted


class Alone(Reactor):
    begin = noted(startup)


class Farm(Reactor):
    def __init__(self) -> None:
        self.leaf = Bank(Relay, 4, quiet=True)
        self.start, self.hub, self.end = Alone(), Source(1), WideSink(4)
        connect(self.hub.out, self.leaf.inp)
        connect(self.leaf.out, self.end.inp)


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
    result = run(Farm, executor="auto", workers=2)
    assert result.executor == chosen
    assert f"on {chosen}, as " in result.reason
    assert why in result.reason


def test_in_a_daemonic_process_it_takes_threads_and_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    result = run(Farm, executor="auto", workers=2)
    assert result.executor == "threads"
    if gil_enabled():
        assert "a daemonic process may start no others" in result.reason
    for call in (run, Session):
        with pytest.raises(RunError, match=r'"processes" in a daemonic process.* use executor="threads"'):
            call(Farm, executor="processes", workers=2)


@pytest.mark.skipif(gil_enabled(), reason="needs an interpreter without a GIL")
def test_without_a_gil_it_runs_on_threads_what_it_would_run_on_processes() -> None:
    expected = run(Farm, trace=True).digest
    result = run(Farm, executor="auto", workers=2, trace=True)
    assert (result.executor, result.digest) == ("threads", expected)
    assert "without a GIL" in result.reason


def test_where_nothing_can_run_side_by_side_it_is_inline() -> None:
    result = run(Alone, executor="auto", workers=2)
    assert (result.executor, result.reason) == ("inline", "nothing can run side by side")
    assert not run(Alone).reason


class Clock(Reactor):
    tick, out = Timer(period=1 * MSEC), Output[int]()

    @reaction(tick, effects=out)
    def send(self, tick: Timer, out: Output[int]) -> None:
        out.set(1)


class Quiet(Reactor):
    inp, out = Input[int](), Output[int]()

    @reaction(inp, effects=out)
    def pass_on(self, inp: Input[int], out: Output[int]) -> None:
        out.set(inp.value)


class Server(Reactor):
    """Serves once, then returns what it is sent."""

    inp, out = Input[int](), Output[int]()

    @reaction(startup, effects=out)
    def serve(self, out: Output[int]) -> None:
        out.set(1)

    @reaction(inp, effects=out)
    def give_back(self, inp: Input[int], out: Output[int]) -> None:
        out.set(inp.value + 1)


class Pair(Reactor):
    """A source or server, and a relay that may answer. Both run at one tag, or in turns."""

    def __init__(self, first: type[Reactor]) -> None:
        self.first, self.relay = first(), Quiet()
        connect(self.first.out, self.relay.inp, after=1 * MSEC)
        if first is Server:
            connect(self.relay.out, self.first.inp, after=1 * MSEC)


def test_it_sees_a_pipeline_and_reactors_that_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reactorlib.cpus.gil_enabled", lambda: False)
    options: dict[str, Any] = {"executor": "auto", "workers": 2, "fast": True, "timeout": 4 * MSEC, "trace": True}
    for first, chosen in ((Clock, "threads"), (Server, "inline")):
        result = run(Pair, first=first, **options)
        assert result.executor == chosen
        assert result.digest == run(Pair, first=first, **{**options, "executor": "inline"}).digest


def test_the_reason_counts_the_workers_that_have_something_to_do() -> None:
    for executor in ("threads", "processes", "auto"):
        assert run(Farm, executor=executor, workers=6).reason.endswith("4 of 6 workers have reactions")
    assert run(Farm, executor="threads", workers=4).reason == ""
    assert (
        run(Farm, executor="threads", workers=4, placement={"Farm.leaf[3]": 0}).reason
        == "3 of 4 workers have reactions"
    )

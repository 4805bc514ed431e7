"""`auto` chooses an executor and reports its reason."""

from __future__ import annotations

import multiprocessing

import pytest

from reactorlib import Bank, Reactor, RunError, Session, connect, run, startup
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

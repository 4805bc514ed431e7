"""Section "Determinism", on one executor. Other executors: `python -m tests.reactorlib.reference --executors ...`."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    Reactor,
    RunError,
    Timer,
    connect,
    elaborate,
    reaction,
    run,
)
from reactorlib.schedule.compiler import Compiler
from tests.reactorlib.observing import Execute, steps

ROOT = Path(__file__).parents[3]


class Client(Reactor):
    inp = Input[float]()
    out = Output[float]()
    again = LogicalAction[int](min_delay=1 * MSEC)

    @reaction(inp, effects=[out, again])
    def work(self, inp, out, again):
        out.set(inp.value * (1 + self.bank_index) / 7)
        again.schedule(self.bank_index * MSEC, value=self.bank_index)

    @reaction(again)
    def rest(self, again): ...


class Hub(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    out = Output[float]()
    inp = Input[float](width="n")
    total = Output[tuple]()

    def __init__(self, n: int):
        self.sum = 1.0

    @reaction(tick, effects=out)
    def send(self, tick, out):
        out.set(self.sum)

    @reaction(inp, effects=total)
    def collect(self, inp, total):
        self.sum = sum(port.value for port in inp)
        total.set((self.sum, "text", None, [1, {"b": 2, "a": b"bytes"}]))


class Main(Reactor):
    def __init__(self, n: int = 4):
        self.hub, self.clients = Hub(n), Bank(Client, n)
        connect(self.hub.out, self.clients.inp)
        connect(self.clients.out, self.hub.inp)


def test_repetitions_have_one_trace_and_one_digest(execute: Execute) -> None:
    first = execute(Main, timeout=10 * MSEC)
    assert first.digest
    for _ in range(3):
        again = execute(Main, timeout=10 * MSEC)
        assert steps(again) == steps(first)
        assert again.digest == first.digest


def test_program_and_class_run_alike(execute: Execute) -> None:
    assert execute(elaborate(Main, n=3), timeout=4 * MSEC).digest == execute(Main, n=3, timeout=4 * MSEC).digest


def test_digest_tells_different_runs_apart(execute: Execute) -> None:
    digests = {
        execute(Main, timeout=10 * MSEC).digest,
        execute(Main, timeout=12 * MSEC).digest,
        execute(Main, n=3, timeout=10 * MSEC).digest,
    }
    assert len(digests) == 3


def test_paced_and_fast_runs_have_one_digest(execute: Execute) -> None:
    assert execute(Main, timeout=4 * MSEC, fast=False).digest == execute(Main, timeout=4 * MSEC).digest


@pytest.mark.usefixtures("path")
def test_trace_is_free_when_unused() -> None:
    result = run(Main, timeout=2 * MSEC, fast=True)
    assert result.trace is None
    assert result.digest is None


def test_compiled_and_walked_schedules_have_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACTORLIB_SCHEDULES", "compiled")
    compiled = run(Main, timeout=10 * MSEC, fast=True, trace=True)
    monkeypatch.setenv("REACTORLIB_SCHEDULES", "walked")
    walked = run(Main, timeout=10 * MSEC, fast=True, trace=True)
    assert steps(walked) == steps(compiled)
    assert walked.digest == compiled.digest


@pytest.mark.parametrize(("way", "compiled"), [("compiled", 1), ("walked", 0)])
def test_schedules_are_compiled_at_their_first_use_or_never(
    monkeypatch: pytest.MonkeyPatch, way: str, compiled: int
) -> None:
    written: list[Any] = []
    write = Compiler.write
    monkeypatch.setattr(Compiler, "write", lambda *given: written.append(given) or write(*given))
    monkeypatch.setenv("REACTORLIB_SCHEDULES", way)
    run(Main, timeout=0, fast=True)  # a run of one tag
    assert len(written) == compiled


def test_another_way_to_run_schedules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACTORLIB_SCHEDULES", "interpreted")
    with pytest.raises(RunError, match="REACTORLIB_SCHEDULES is 'compiled', 'walked' or not set, got 'interpreted'"):
        run(Main, timeout=2 * MSEC, fast=True)


PROGRAM = """
    from reactorlib import *

    class Source(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        out = Output()

        @reaction(tick, effects=out)
        def beat(self, tick, out):
            out.set({"set": sorted({"a", "b", "c"}), "tag": tuple(current_tag())})

    class Main(Reactor):
        def __init__(self):
            self.sources = Bank(Source, 5)

    print(run(Main, timeout=3 * MSEC, fast=True, trace=True).digest)
"""


def test_digest_is_the_same_in_every_interpreter_whatever_its_hash_seed() -> None:
    digests = set()
    for seed in ("0", "1", "2"):
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1

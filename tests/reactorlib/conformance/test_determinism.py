"""Section "Determinism". Traces and digests are the same on every executor, and a run leaves nothing behind."""

import gc
import os
import textwrap
from typing import Any
from weakref import ref

import pytest

from reactorlib import MSEC, Bank, Input, LogicalAction, Mode, Output, Reactor, Timer, connect, reaction, run
from reactorlib.cpus import gil_enabled
from reactorlib.schedule.compiler import Compiler
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute, steps
from tests.reactorlib.scripts import printed


class Client(Reactor):
    inp, out = Input[float](), Output[float]()
    again = LogicalAction[int](min_delay=1 * MSEC)
    rest = noted(again)

    @reaction(inp, effects=[out, again])
    def work(self, inp, out, again):
        out.set(inp.value * (1 + self.bank_index) / 7)
        again.schedule(self.bank_index * MSEC, value=self.bank_index)


class Hub(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    out, inp, total = Output[float](), Input[float](width="n"), Output[tuple]()

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


def test_repetitions_paced_and_fast_have_one_trace_and_one_digest(execute: Execute) -> None:
    first = execute(Main, timeout=10 * MSEC)
    assert first.digest
    for fast in (True, True, False):
        again = execute(Main, timeout=10 * MSEC, fast=fast)
        assert steps(again) == steps(first)
        assert again.digest == first.digest


@pytest.mark.usefixtures("path")
def test_trace_is_free_when_unused() -> None:
    result = run(Main, timeout=2 * MSEC, fast=True)
    assert result.trace is None
    assert result.digest is None


def test_compiled_and_walked_schedules_have_one_digest_and_only_one_is_compiled(monkeypatch) -> None:
    written: list[Any] = []
    write = Compiler.write
    monkeypatch.setattr(Compiler, "write", lambda *given: written.append(given) or write(*given))
    results, compiled = [], []
    for path in ("compiled", "walked"):
        monkeypatch.setenv("REACTORLIB_SCHEDULES", path)
        run(Main, timeout=0, fast=True)  # a run of one tag
        compiled.append(len(written))
        results.append(run(Main, timeout=10 * MSEC, fast=True, trace=True))
        written.clear()
    assert compiled == [1, 0]  # at the first use, or never
    assert steps(results[0]) == steps(results[1])
    assert results[0].digest == results[1].digest


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
    program = textwrap.dedent(PROGRAM)
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("0", "1", "2")]
    assert len({printed("-c", program, env=environment) for environment in environments}) == 1


def left_by_a_run(execute: Execute) -> list[ref[type]]:
    class Sender(Reactor):
        tick = Timer(period=1 * MSEC)
        out = Output[list[int]]()
        only = Mode(initial=True)

        @reaction(tick, effects=out, deadline=1000 * MSEC)
        def beat(self, tick, out) -> None:
            out.set([1, 2])

        @beat.missed
        def late(self, tick, out) -> None: ...

    class Receiver(Reactor):
        inp = Input[list[int]](mutable=True)

        @reaction(inp)
        def hear(self, inp) -> None:
            inp.value.append(3)

    class Both(Reactor):
        def __init__(self) -> None:
            self.sources, self.sinks = Bank(Sender, 2), Bank(Receiver, 2)
            connect(self.sources.out, self.sinks.inp)

    assert len(execute(Both, timeout=5 * MSEC).trace) == 24
    return [ref(Sender), ref(Receiver), ref(Both)]


@pytest.mark.skipif(not gil_enabled(), reason="free-threaded 3.13 never frees functions once a thread was started")
def test_a_class_of_a_function_is_collected_after_its_run(execute: Execute) -> None:
    left = left_by_a_run(execute)
    gc.collect()
    assert [cls() for cls in left] == [None, None, None]

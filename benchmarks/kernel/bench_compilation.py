"""The compiler by itself: from a set of events to the source of a schedule, and to a function."""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.meter import Meter
from benchmarks.rounds import measure
from benchmarks.shapes import Chain, FanOut
from benchmarks.structures import AllToAll, Timers
from reactorlib import Program, Reactor, elaborate
from reactorlib.executors.inline import Inline
from reactorlib.worker.main_worker import MainWorker

pytestmark = pytest.mark.benchmark(timer=time.process_time)
SCHEDULES: dict[str, tuple[type[Reactor], dict[str, int], str]] = {
    "timer": (Timers, {"timers": 1}, "metered.tick"),
    "fan-out-16": (FanOut, {"clients": 16}, "hub.request"),
    "fan-out-1000": (FanOut, {"clients": 1_000}, "hub.request"),
    "chain-100": (Chain, {"length": 100}, "links[99].reply"),
    "all-to-all-50": (AllToAll, {"width": 50}, "collectors[0].reply"),
}


def program_of(name: str) -> tuple[Program, str]:
    """A program, and the trigger whose schedule is compiled."""
    cls, parameters, trigger = SCHEDULES[name]
    return elaborate(cls, meter=Meter(1, 0, laps=0), **parameters), trigger


@pytest.mark.benchmark(group="source")
@pytest.mark.parametrize("name", SCHEDULES)
def bench_source(benchmark: BenchmarkFixture, name: str) -> None:
    program, trigger = program_of(name)
    measure(benchmark, lambda: program.source(trigger), rounds=20)


@pytest.mark.benchmark(group="compile")
@pytest.mark.parametrize("name", SCHEDULES)
def bench_compile(benchmark: BenchmarkFixture, name: str) -> None:
    """Plan, source, code object and the objects that its names stand for."""
    program, trigger = program_of(name)
    worker = MainWorker(program)
    (event,) = (event for event in worker.events if event.path.endswith(f".{trigger}"))
    inline = Inline(worker)
    measure(benchmark, lambda: inline._compile([event]), rounds=20)
    worker.clock.close()

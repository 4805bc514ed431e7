"""From a class to a Program, and from a Program to its first tags."""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.meter import Meter
from benchmarks.rounds import measure
from benchmarks.shapes import FanOut
from benchmarks.structures import AllToAll, Tree
from reactorlib import Program, Reactor, elaborate, run

pytestmark = pytest.mark.benchmark(timer=time.process_time)
PROGRAMS: dict[str, tuple[type[Reactor], dict[str, int]]] = {
    "bank-16": (FanOut, {"clients": 16}),
    "bank-1000": (FanOut, {"clients": 1_000}),
    "bank-10000": (FanOut, {"clients": 10_000}),
    "tree-1365": (Tree, {"depth": 5, "children": 4}),
    "all-to-all-50": (AllToAll, {"width": 50}),
}


def made(name: str) -> Program:
    """A program that ends after its first tags."""
    cls, parameters = PROGRAMS[name]
    return elaborate(cls, meter=Meter(3, 0, laps=0), **parameters)


@pytest.mark.benchmark(group="elaboration")
@pytest.mark.parametrize("name", PROGRAMS)
def bench_elaborate(benchmark: BenchmarkFixture, name: str) -> None:
    measure(benchmark, lambda: made(name))


@pytest.mark.benchmark(group="start")
@pytest.mark.parametrize("name", PROGRAMS)
def bench_first_tags(benchmark: BenchmarkFixture, name: str) -> None:
    """Cells, arguments, plans, source, compilation: all that a run does before it only runs."""
    measure(benchmark, run, lambda: ((made(name),), {"fast": True}))

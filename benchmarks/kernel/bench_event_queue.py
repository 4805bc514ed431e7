"""The event queue by itself: a thousand events in and out."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.rounds import Call, measure
from reactorlib.worker.cells import Event
from reactorlib.worker.events import Queue

pytestmark = pytest.mark.benchmark(timer=time.process_time, group="event queue")
COUNT = 1_000


def events(count: int) -> list[Event]:
    """Events of logical actions with a minimum delay of 1 ns."""
    trigger = SimpleNamespace(mode=None, delay=1, min_spacing=None, policy="defer", kind="logical")
    return [Event(f"Main.action_{index}", index, trigger) for index in range(count)]


@pytest.mark.parametrize("pending", [1, 100, 10_000])
def bench_hold(benchmark: BenchmarkFixture, pending: int) -> None:
    """The classical hold model: take the next event, put it back later than all others."""
    queue, held = Queue(), events(pending)
    for index, event in enumerate(held):
        queue.at(index, event, None)
    queue.pop()

    def hold() -> None:
        at, pop = queue.at, queue.pop
        for _ in range(COUNT):
            at(queue.time + pending, held[queue.time % pending], None)
            pop()

    measure(benchmark, hold, rounds=50)


def bench_same_time(benchmark: BenchmarkFixture) -> None:
    """Many events at one future time, which comes at once."""
    held = events(COUNT)

    def fresh() -> Call:
        queue = Queue()
        queue.at(0, held[0], None)
        queue.pop()
        return (queue,), {}

    def gather(queue: Queue) -> None:
        for event in held:
            queue.schedule(event, 0, None)
        assert len(queue.pop()) == COUNT

    measure(benchmark, gather, fresh, rounds=50)


def bench_microsteps(benchmark: BenchmarkFixture) -> None:
    """One event that comes again at the next microstep."""
    queue = Queue()
    (event,) = events(1)
    queue.at(0, event, None)
    queue.pop()

    def step() -> None:
        at, pop = queue.at, queue.pop
        for _ in range(COUNT):
            at(0, event, None)
            pop()

    measure(benchmark, step, rounds=50)

"""What a reaction costs, by shape. A figure is a whole run; `reactions` in its extra information is how many."""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.interleaving import walking
from benchmarks.rounds import measure_tags
from benchmarks.shapes import Chain, FanOut, PingPong, Ring
from benchmarks.structures import Sparse, Switchers, Timers

pytestmark = pytest.mark.benchmark(timer=time.process_time, group="reactions")


@pytest.mark.parametrize("clients", [1, 4, 16, 64, 256, 4096])
def bench_fan_out(benchmark: BenchmarkFixture, clients: int) -> None:
    measure_tags(benchmark, FanOut, 40_960 // (clients + 1), clients + 1, clients=clients)


def bench_ping_pong(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, PingPong, 20_000, 2)


def bench_chain(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, Chain, 400, 101, length=100)


def bench_ring(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, Ring, 200, 101, length=100)


def bench_timers(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, Timers, 20, 1_000, timers=1_000)


@pytest.mark.parametrize("width", [16, 1024])
def bench_sparse_multiport(benchmark: BenchmarkFixture, width: int) -> None:
    measure_tags(benchmark, Sparse, 1_000, 2, width=width)


@pytest.mark.parametrize("switchers", [1, 100])
def bench_mode_switch(benchmark: BenchmarkFixture, switchers: int) -> None:
    measure_tags(benchmark, Switchers, 400 // switchers, switchers, switchers=switchers)


def bench_fan_out_with_a_trace(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, FanOut, 1_000, 17, clients=16, trace=True)


def bench_fan_out_walked(benchmark: BenchmarkFixture) -> None:
    with walking():
        measure_tags(benchmark, FanOut, 1_000, 17, clients=16)


def bench_timers_walked(benchmark: BenchmarkFixture) -> None:
    with walking():
        measure_tags(benchmark, Timers, 20, 1_000, timers=1_000)

"""What a tag costs that has one reaction: the loop around the schedules."""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.rounds import measure_tags
from benchmarks.shapes import ActionLoop, Loop
from benchmarks.structures import Quiet, Timers
from reactorlib import USEC

pytestmark = pytest.mark.benchmark(timer=time.process_time, group="tags")
TAGS = 20_000


def bench_connection_after_0(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, Loop, TAGS, 1)


def bench_action_now(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, ActionLoop, TAGS, 1)


def bench_action_later(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, ActionLoop, TAGS, 1, delay=1 * USEC)


def bench_timer(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, Timers, TAGS, 1, timers=1)


def bench_timer_among_idle_reactors(benchmark: BenchmarkFixture) -> None:
    measure_tags(benchmark, Quiet, TAGS, 1, reactors=10_000)

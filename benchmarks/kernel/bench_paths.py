"""Each hot path of the kernel, timed by pytest-benchmark. `make bench-kernel` keeps every run."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.meter import Meter
from benchmarks.paths import HOT

WARMUP, TAGS = 100, 2_000
WHOLE = ("elaboration", "start")  # a repetition is a whole program


@pytest.mark.parametrize("name", HOT)
def bench_path(benchmark: BenchmarkFixture, name: str) -> None:
    tags = 10 if name in WHOLE else TAGS
    benchmark(lambda: HOT[name](Meter(min(WARMUP, tags), tags)))

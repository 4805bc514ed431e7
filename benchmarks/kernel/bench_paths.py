"""Each hot path of the kernel, timed by pytest-benchmark. `make bench-kernel` keeps every run."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.meter import Meter
from benchmarks.paths import HOT

USUAL = 50  # repetitions, of a block of 1,000 reactions
OTHERS = {"actions": 2_000, "elaboration": 10, "start": 10}  # of a tag, and of a whole program


@pytest.mark.parametrize("name", HOT)
def bench_path(benchmark: BenchmarkFixture, name: str) -> None:
    count = OTHERS.get(name, USUAL)
    benchmark(lambda: HOT[name](Meter(max(1, count // 20), count)))

"""Whole processes: user and system time of a fresh interpreter with compiled modules at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.kernel_claims.processes import HELLO, process_cost, with_bytecode_in
from benchmarks.rounds import measure, time_with_children

SOURCES = {"interpreter": "pass", "import": "import reactorlib", "hello-world": HELLO}


@pytest.mark.benchmark(timer=time_with_children, group="processes")
@pytest.mark.parametrize("name", SOURCES)
def bench_process(benchmark: BenchmarkFixture, tmp_path: Path, name: str) -> None:
    environment = with_bytecode_in(str(tmp_path))
    measure(benchmark, lambda: process_cost(SOURCES[name], environment), rounds=10)

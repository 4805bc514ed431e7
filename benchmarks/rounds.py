"""How pytest-benchmark measures here: a fixed number of rounds, each on fresh reactors where it runs a program."""

from __future__ import annotations

from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.meter import Meter
from reactorlib import Reactor, elaborate, run

Call = tuple[tuple[Any, ...], dict[str, Any]]


def measure(
    benchmark: BenchmarkFixture,
    work: Callable[..., object],
    setup: Callable[[], Call] | None = None,
    rounds: int = 7,
) -> None:
    """Measure `work`, with the arguments that `setup` gives for each round."""
    benchmark.pedantic(work, setup=setup, rounds=rounds, warmup_rounds=1)  # type: ignore[no-untyped-call]


def measure_tags(
    benchmark: BenchmarkFixture,
    cls: type[Reactor],
    tags: int,
    reactions: int,
    *,
    trace: bool = False,
    **parameters: object,
) -> None:
    """Measure a run of so many tags of a shape; the extra information tells how many reactions that are."""

    def fresh() -> Call:
        return (elaborate(cls, meter=Meter(tags, 0, laps=0), **parameters),), {"fast": True, "trace": trace}

    benchmark.extra_info["reactions"] = tags * reactions
    measure(benchmark, run, fresh)


def time_with_children() -> float:
    """Processor time in s of this process and of its children that ended."""
    children = getrusage(RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime

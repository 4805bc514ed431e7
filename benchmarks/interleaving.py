"""Alternatives measured in turn, so that a machine whose speed drifts slows them alike."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from benchmarks.meter import Cost, Meter


def interleaved_costs(repetitions: int, alternatives: Sequence[Callable[[], Cost]]) -> list[list[Cost]]:
    """The costs of each alternative, repetition by repetition; every other repetition goes backwards."""
    costs: list[list[Cost]] = [[] for _ in alternatives]
    turns = list(enumerate(alternatives))
    for repetition in range(repetitions):
        for index, measure in turns if repetition % 2 == 0 else reversed(turns):
            gc.collect()
            costs[index].append(measure())
    return costs


def ratios(dividends: Sequence[Cost], divisors: Sequence[Cost]) -> list[float]:
    """Processor time against processor time, paired by repetition."""
    return [dividend.cpu_ns / divisor.cpu_ns for dividend, divisor in zip(dividends, divisors, strict=True)]


def cost_per_tag(tags: int, run: Callable[[Meter], object], warmup: int = 20) -> Cost:
    """What a tag of a program costs after the warm-up."""
    meter = Meter(warmup, tags)
    run(meter)
    return meter.per_tag


@contextmanager
def walking() -> Iterator[None]:
    """Runs inside walk their tags: no schedule is compiled."""
    name = "REACTORLIB_SCHEDULES"
    before = os.environ.get(name)
    os.environ[name] = "walked"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before

"""Many programs by seed, on chosen executors, each compared with the interpreter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from tests.reactorlib.reference.choices import Recorded, Seeded
from tests.reactorlib.reference.comparison import WAYS, Executor, difference, explain
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.shrink import shrink

CHUNK = 20
Executors = tuple[Executor, ...]


@dataclass(frozen=True)
class Failure:
    """A seed whose program differs, and the difference of the smallest such program found."""

    seed: int
    text: str


def check(seed: int, executors: Executors = WAYS, wide: bool = False, shrinking: bool = True) -> Failure | None:
    """Compare the program of one seed."""
    choices = Seeded(seed)
    program = generate(choices, wide)
    found = difference(program, executors)
    if found is None:
        return None
    if shrinking:

        def fails(answers: list[int]) -> bool:
            other = difference(generate(Recorded(answers), wide), executors)
            return other is not None and _kind(other) == _kind(found)

        program = generate(Recorded(shrink(choices.answers, fails)), wide)
        found = difference(program, executors) or found
    return Failure(seed, f"seed {seed}: {explain(program, found)}")


def check_all(seeds: Iterable[int], executors: Executors = WAYS, wide: bool = False) -> list[Failure]:
    """Compare the programs of many seeds in this process, and shrink the first that fails."""
    failures: list[Failure] = []
    for seed in seeds:
        failure = check(seed, executors, wide, shrinking=not failures)
        failures += [failure] if failure else []
    return failures


def check_parallel(
    seeds: range, executors: Executors = WAYS, wide: bool = False, processes: int = 2
) -> Iterator[tuple[int, list[Failure]]]:
    """The number of programs and the failures of each chunk of seeds: in fresh processes, or with one in this one."""
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    if processes == 1:
        yield from ((len(chunk), check_all(chunk, executors, wide)) for chunk in chunks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        results = [pool.submit(check_all, chunk, executors, wide) for chunk in chunks]
        try:
            for chunk, result in zip(chunks, results, strict=True):
                yield len(chunk), result.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _kind(found: str) -> str:
    """The part of a difference that stays the same while its program gets smaller."""
    return re.sub(r"[^a-zA-Z ].*", "", found.partition(": ")[2], flags=re.DOTALL)

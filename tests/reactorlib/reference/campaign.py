"""Many programs by seed, on chosen executors, each compared with the interpreter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context

from tests.reactorlib.reference.choices import Seeded
from tests.reactorlib.reference.comparison import WAYS, Executor, difference, explain
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.shrink import shrink
from tests.reactorlib.reference.specification import ProgramSpec

CHUNK = 20
Executors = tuple[Executor, ...]


@dataclass(frozen=True)
class Failure:
    """A seed whose program differs, and the difference of the smallest such program found."""

    seed: int
    text: str


def check(seed: int, executors: Executors = WAYS, wide: bool = False, shrinking: bool = True) -> Failure | None:
    """Compare the program of one seed."""
    program = generate(Seeded(seed), wide)
    found = difference(program, executors)
    if found is None:
        return None
    if shrinking:
        program = minimised(program, found, executors)
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
    """Chunks of seeds in fresh processes: after each chunk the number of its programs and its failures."""
    chunks = [list(islice(seeds, start, start + CHUNK)) for start in range(0, len(seeds), CHUNK)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        results = [pool.submit(check_all, chunk, executors, wide) for chunk in chunks]
        for chunk, result in zip(chunks, results, strict=True):
            yield len(chunk), result.result()


def minimised(program: ProgramSpec, found: str, executors: Executors) -> ProgramSpec:
    """The smallest program that differs in the same kind of way."""

    def fails(candidate: ProgramSpec) -> bool:
        try:
            other = difference(candidate, executors)
        except ValueError:  # what is left is not valid
            return False
        return other is not None and _kind(other) == _kind(found)

    return shrink(program, fails)


def _kind(found: str) -> str:
    """What stays the same about a difference while its program gets smaller."""
    return re.sub(r"[^a-zA-Z ].*", "", found.partition(": ")[2], flags=re.DOTALL)

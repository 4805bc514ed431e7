"""Random programs: the runtime's full trace equals that of the naive interpreter.

Compared are all tags, reactions, writes and what every argument held, with every schedule compiled and with none. Wide
programs have banks and ports of 31 to 200 members and odd names.
REACTORLIB_RANDOM_PROGRAMS says how many seeds (default 1500); a failure prints its seed and the smallest program found.
`python -m tests.reactorlib.reference --seed N --show` prints the program of a seed and its trace.
"""

import os
import random
import time

import pytest

from tests.choice import first
from tests.reactorlib.reference.campaign import check_all
from tests.reactorlib.reference.comparison import INLINE, Executor

PROGRAMS = int(os.environ.get("REACTORLIB_RANDOM_PROGRAMS", "1500"))
CHUNKS = 15


@pytest.mark.parametrize("chunk", first(3, range(CHUNKS), "of 1500 random programs 300 are always tried"))
def test_programs_of_these_seeds_agree_with_the_interpreter(chunk: int) -> None:
    size = -(-PROGRAMS // CHUNKS)
    seeds = range(chunk * size, min((chunk + 1) * size, PROGRAMS))
    failures = check_all(seeds)
    assert not failures, "\n\n".join(failure.text for failure in failures[:2])


@pytest.mark.parametrize("chunk", first(2, range(CHUNKS), "of 300 wide programs 40 are always tried"))
def test_wide_programs_of_these_seeds_agree_with_the_interpreter(chunk: int) -> None:
    size = -(-PROGRAMS // CHUNKS) // 5  # they take five times as long
    failures = check_all(range(chunk * size, (chunk + 1) * size), wide=True)
    assert not failures, "\n\n".join(failure.text for failure in failures[:2])


@pytest.mark.parametrize("chunk", range(3))
def test_programs_that_are_compiled_once_it_pays_agree_with_the_interpreter(chunk: int) -> None:
    failures = check_all(range(100_000 + chunk * 50, 100_000 + (chunk + 1) * 50), (INLINE,))
    assert not failures, "\n\n".join(failure.text for failure in failures[:2])


@pytest.mark.parametrize("text", ["threads:3:walked", "processes:2:walked"])
def test_programs_without_schedules_for_sets_of_events_agree_with_the_interpreter(text: str) -> None:
    failures = check_all(range(200_000, 200_060), (Executor.parse(text),))
    assert not failures, "\n\n".join(failure.text for failure in failures[:2])


@pytest.mark.parametrize("text", ["threads:3", "processes:3"])
def test_programs_that_are_placed_by_what_can_run_side_by_side_agree_with_the_interpreter(text: str) -> None:
    failures = check_all(range(210_000, 210_040), (Executor.parse(text),))
    assert not failures, "\n\n".join(failure.text for failure in failures[:2])


@pytest.mark.soak
def test_endless_programs_agree_with_the_interpreter() -> None:
    """Seeds never tried before, for SOAK_SECONDS."""
    end = time.monotonic() + float(os.environ.get("SOAK_SECONDS", "60"))
    seed = random.SystemRandom().randrange(10**6, 10**12)
    while time.monotonic() < end:
        failures = check_all(range(seed, seed + 40)) + check_all(range(seed, seed + 10), wide=True)
        assert not failures, failures[0].text
        seed += 50

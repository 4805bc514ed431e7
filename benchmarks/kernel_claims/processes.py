"""Claims about whole processes: start-up, and memory over a long run."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import psutil

from benchmarks import paths
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.table import Size
from benchmarks.meter import Meter

MIB = 1024 * 1024

HELLO = """
from reactorlib import Reactor, reaction, run, startup

class Hello(Reactor):
    @reaction(startup)
    def begin(self):
        print("hello world")

run(Hello)
"""

ASYNCIO, BARE = "import asyncio", "pass"


def start_up(size: Size) -> Iterator[Claim]:
    """A hello-world run as a whole process, beside a known module's import."""
    with tempfile.TemporaryDirectory() as cache:
        # The first turn compiles all modules and keeps them in a directory: as where a package is installed.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPYCACHEPREFIX": cache}
        first, *turns = (
            {source: process_ns(source, environment) for source in (HELLO, ASYNCIO, BARE)}
            for _ in range(1 + size.processes)
        )
    ratios = [(turn[HELLO] - turn[BARE]) / (turn[ASYNCIO] - turn[BARE]) for turn in turns]
    name = "hello world, a whole process / `import asyncio`, both beyond the bare interpreter: processor time"
    ms = {source: f"{median(turn[source] for turn in turns) / 1e6:.0f} ms" for source in first}
    note = f"hello world {ms[HELLO]}, import {ms[ASYNCIO]}, bare {ms[BARE]}"
    yield Claim(name, ratios, "x", at_most=1, note=note)


def process_ns(source: str, environment: dict[str, str]) -> int:
    """The processor time of a fresh interpreter that runs this source."""
    before_ns = _children_ns()
    subprocess.run([sys.executable, "-c", source], env=environment, stdout=subprocess.DEVNULL, check=True)
    return _children_ns() - before_ns


def _children_ns() -> int:
    usage = getrusage(RUSAGE_CHILDREN)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


class Memory(Meter):
    """Reads this process's resident memory, in bytes, at each end of a lap."""

    def __init__(self, rounds: int) -> None:
        super().__init__(rounds // 100, rounds // 100, laps=100)
        self.readings: list[int] = []

    def next_lap(self) -> int:
        """Read it, and end the lap."""
        self.readings.append(psutil.Process().memory_info().rss)
        return super().next_lap()


def memory(size: Size) -> Iterator[Claim]:
    """Resident memory stays flat over a long `after` 0 ring."""
    meter = Memory(size.rounds)
    paths.overhead(meter, "thread_ring")
    first, *others = meter.readings
    name = f"growth over {1_000 * size.rounds:,} tags of an `after` 0 ring"
    note = f"the highest of {len(others)} readings; {first / MIB:.1f} MiB after the warm-up"
    yield Claim(name, [(max(first, *others) - first) / MIB], "MiB", at_most=2, note=note)

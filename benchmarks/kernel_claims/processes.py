"""Claims about whole processes: start-up, memory over a long run, and the text of a schedule."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median
from time import perf_counter_ns

from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.table import Size, made
from benchmarks.shapes import FanOut
from harness.measure.turn import Turn

MS = 1_000_000
MIB = 1024 * 1024

HELLO = """
from reactorlib import Reactor, reaction, run, startup

class Hello(Reactor):
    @reaction(startup)
    def begin(self):
        print("hello world")

run(Hello)
"""

SOURCES = {"hello": HELLO, "bare": "pass", "reactorlib": "import reactorlib", "asyncio": "import asyncio"}

# Resident memory after the warm-up and after each lap of an `after` 0 loop, in bytes.
LOOP = """
import json, sys
import psutil
from benchmarks.meter import Meter
from benchmarks.shapes import Loop
from reactorlib import run

tags, laps = map(int, sys.argv[1:])
memory = []

class Memory(Meter):
    def next_lap(self):
        memory.append(psutil.Process().memory_info().rss)
        return super().next_lap()

run(Loop, fast=True, meter=Memory(max(tags // 100, 1), tags // laps, laps))
print(json.dumps(memory))
"""


def start_up(size: Size) -> Iterator[Claim]:
    """A hello-world run as a whole process, beside the bare interpreter and a known module's import."""
    with tempfile.TemporaryDirectory() as cache:
        # Compiled modules are kept in a directory: as where a package is installed.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPYCACHEPREFIX": cache}
        for source in SOURCES.values():
            process_cost(source, environment)
        turns = [
            {name: process_cost(source, environment) for name, source in SOURCES.items()} for _ in range(size.processes)
        ]
    beyond = {name: [(turn[name].cpu_ns - turn["bare"].cpu_ns) / MS for turn in turns] for name in SOURCES}
    ratios = [ours / theirs for ours, theirs in zip(beyond["hello"], beyond["asyncio"], strict=True)]
    name = "hello world, a whole process / `import asyncio`, both beyond the bare interpreter: processor time"
    yield Claim(name, ratios, "x", at_most=1)
    for name, source in SOURCES.items():
        ms = [turn[name].cpu_ns / MS for turn in turns]
        note = f"wall time {median(turn[name].wall_ns / MS for turn in turns):.0f} ms"
        title = "hello world" if name == "hello" else source
        yield Claim(f"{title}, a whole process: processor time", ms, "ms", note=note)


def process_cost(source: str, environment: dict[str, str]) -> Turn:
    """The cost of a fresh interpreter that runs this source, as of a turn of one round."""
    began = perf_counter_ns()
    child = subprocess.Popen([sys.executable, "-c", source], env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    ended = perf_counter_ns()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"python -c {source!r} ended with {child.returncode}")
    return Turn(1, ended - began, round((usage.ru_utime + usage.ru_stime) * 1e9))


def no_trace(_size: Size) -> Iterator[Claim]:
    """Off, a trace costs nothing: nothing of it is in a schedule."""
    source = made(FanOut, {"clients": 16}).source("hub.request")
    mentions = sum(name in source for name in ("record(", "clock(", "note("))
    yield Claim("trace off: mentions of it in a schedule", [mentions], "", at_most=0, note="so it can cost nothing")


def memory(size: Size) -> Iterator[Claim]:
    """Resident memory stays flat over a long `after` 0 loop."""
    command = [sys.executable, "-c", LOOP, str(size.loop_tags), "100"]
    resident: list[int] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    growth = (max(resident) - resident[0]) / MIB
    name = f"growth over {size.loop_tags:,} tags of an `after` 0 loop"
    note = f"the highest of {len(resident)} readings; {resident[0] / MIB:.1f} MiB after the warm-up"
    yield Claim(name, [growth], "MiB", at_most=2, note=note)

"""`python -m tests.reactorlib.reference`: random programs by seed against the interpreter, on any executor."""

from __future__ import annotations

import argparse
import signal
import sys
import time

from reactorlib.executors.executor import exit_on_signal, handling
from tests.reactorlib.reference.campaign import Failure, check_parallel
from tests.reactorlib.reference.choices import Seeded
from tests.reactorlib.reference.comparison import Executor
from tests.reactorlib.reference.generator import generate
from tests.reactorlib.reference.interpreter import interpret
from tests.reactorlib.reference.source import render


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 if a program differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.reactorlib.reference", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--wide", action="store_true", help="with banks and ports of up to 200 and odd names")
    parser.add_argument(
        "--executors", default="compiled,walked", help="such as compiled,walked,inline,threads:2,processes:3:scattered"
    )
    parser.add_argument("--processes", type=int, default=2, help="that share the work (default: 2)")
    parser.add_argument("--show", action="store_true", help="print the program of --seed and its trace")
    options = parser.parse_args(arguments)
    if options.show:
        return show(options.seed, options.wide)
    executors = tuple(Executor.parse(text) for text in options.executors.split(","))
    seeds = range(options.seed, options.seed + options.programs)
    with handling(exit_on_signal, signal.SIGTERM):  # or the processes that share the work would live on
        return run_campaign(seeds, executors, options.wide, options.processes)


def show(seed: int, wide: bool = False) -> int:
    """Print the program of a seed and what the interpreter does with it."""
    program = generate(Seeded(seed), wide)
    print(render(program))
    behaviour = interpret(program)
    for record in behaviour.records:
        print(*record)
    print("last tag", behaviour.last)
    return 0


def run_campaign(seeds: range, executors: tuple[Executor, ...], wide: bool, processes: int) -> int:
    """Run every seed and print what differs."""
    started = time.perf_counter()
    done, failures = 0, list[Failure]()
    for count, found in check_parallel(seeds, executors, wide, processes):
        done += count
        failures += found
        print(f"\r{done}/{len(seeds)}, {len(failures)} differ", end=" ", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - started
    print(f"{done} programs in {seconds:.1f} s, {len(failures)} differ", file=sys.stderr)
    for failure in failures[:3]:
        print(failure.text)
    if failures:
        print("seeds that differ:", *(failure.seed for failure in failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""What `run` and `trace` share: how a program is run from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from reactorlib.cli.target import count_option, resolved, time_option
from reactorlib.executors.choice import EXECUTORS
from reactorlib.program import Program, elaborate
from reactorlib.runtime import RunResult
from reactorlib.runtime import run as run_program


def add_running(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how to run."""
    parser.add_argument("--timeout", metavar="TIME", type=time_option, help="stop at this logical time, such as 500ms")
    parser.add_argument("--fast", action="store_true", help="do not wait for physical time")
    parser.add_argument("--executor", choices=EXECUTORS, default="inline", help="how to run (default: inline)")
    parser.add_argument(
        "--workers", metavar="N", type=count_option, help="workers of a parallel executor (default: CPUs)"
    )
    parser.add_argument(
        "--library-threads", metavar="N", type=count_option, help="threads of NumPy and torch per worker (default: 1)"
    )


def executed(options: argparse.Namespace, trace: bool) -> tuple[Program, RunResult]:
    """Run the program that the options name. With --json what it prints goes to standard error."""
    cls, parameters = resolved(options)
    program = elaborate(cls, **parameters)
    with _out_of_the_way(options.json):
        result = run_program(
            program,
            timeout=options.timeout,
            fast=options.fast,
            executor=options.executor,
            workers=options.workers,
            library_threads=options.library_threads,
            trace=trace,
        )
    return program, result


@contextmanager
def _out_of_the_way(machine_reads: bool) -> Iterator[None]:
    """Keep standard output for the JSON; a program that runs in other processes still prints where it likes."""
    kept = sys.stdout
    if machine_reads:
        sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = kept

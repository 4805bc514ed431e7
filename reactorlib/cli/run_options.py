"""What `run` and `trace` share: how a program is run from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Any

from reactorlib.cli.target import count_option, resolved, time_option
from reactorlib.cpus import available_cpus
from reactorlib.execution import RunResult
from reactorlib.program import Program, elaborate
from reactorlib.runtime import run as run_program
from reactorlib.tag import UNITS
from reactorlib.worker.options import EXECUTORS

_SHORT = {"-o": "--timeout", "-f": "--fast", "-k": "--keepalive", "-w": "--workers"}


def add_running(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how to run."""
    parser.add_argument("--timeout", metavar="TIME", type=time_option, help="stop at this logical time, such as 500ms")
    on_off = argparse.BooleanOptionalAction
    parser.add_argument("--fast", action=on_off, help="do not wait for physical time")
    parser.add_argument("--keepalive", action=on_off, help="do not end when nothing is left to do")
    parser.add_argument("--executor", choices=EXECUTORS, default="inline", help="how to run (default: inline)")
    parser.add_argument(
        "--workers",
        metavar="N",
        type=count_option,
        help="workers of a parallel executor (default: CPUs; with mpi: ranks)",
    )
    parser.add_argument(
        "--library-threads", metavar="N", type=count_option, help="threads of NumPy and torch per worker (default: 1)"
    )


def executed(options: argparse.Namespace, trace: bool) -> tuple[Program, RunResult]:
    """Run the program that the options name. With --json what it prints goes to standard error."""
    together: AbstractContextManager[None] = nullcontext()
    if options.executor == "mpi":  # what keeps the program from being made on one rank keeps it from it on all
        from reactorlib.mpi.ranks import joined  # for this executor only

        together = joined().together("the program")
    with together:
        cls, parameters = resolved(options)
        program = elaborate(cls, **parameters)
    given = {name: getattr(options, name) for name in ("timeout", "fast", "keepalive", "workers", "library_threads")}
    asked = {**_asked_by(program, options), **{name: value for name, value in given.items() if value is not None}}
    # Standard output is for the JSON; a program that runs in other processes still prints where it likes.
    with redirect_stdout(sys.stderr if options.json else sys.stdout):
        result = run_program(program, **asked, executor=options.executor, trace=trace)
    return program, result


def speaks() -> bool:
    """Whether this process tells what came of a run: of several ranks the first does."""
    ranks = sys.modules.get("reactorlib.mpi.ranks")
    return ranks is None or ranks.is_first()


def _asked_by(program: Program, options: argparse.Namespace) -> dict[str, Any]:
    """What a Lingua Franca program says about how it runs; what the command says comes first."""
    if not hasattr(program.cls, "__lf__"):
        return {}
    from reactorlib.lf.load import federates, run_options  # for these programs only

    asked = run_options(program.cls)
    if options.executor != "inline":
        asked["placement"] = federates(program, options.workers or asked.get("workers") or available_cpus())
    return asked


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The arguments of `run` with those that a Lingua Franca program knows in the place of their short forms.

    >>> spelled_out(["Main.lf", "-o", "5", "sec", "-f", "true", "-k", "false", "-w", "2"])
    ['Main.lf', '--timeout', '5 sec', '--fast', '--no-keepalive', '--workers', '2']
    """
    left, found = list(arguments), []
    while left:
        one = left.pop(0)
        word = _SHORT.get(one, one)
        if word in ("--fast", "--keepalive") and left and left[0] in ("true", "false"):
            word = word if left.pop(0) == "true" else word.replace("--", "--no-", 1)
        found.append(word)
        if word == "--timeout" and len(left) > 1 and left[0].isdigit() and left[1] in UNITS:
            found.append(f"{left.pop(0)} {left.pop(0)}")
    return found

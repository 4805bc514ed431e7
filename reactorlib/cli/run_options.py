"""How `run` and `trace` run a program: their options, those of the program itself, and the run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Any

from reactorlib.cli.output import complain
from reactorlib.cli.target import add_target, count_option, resolved, time_option
from reactorlib.execution import RunResult
from reactorlib.program import Program, elaborate
from reactorlib.runtime import run as run_program
from reactorlib.tag import UNITS
from reactorlib.worker.options import EXECUTORS

_SHORT = {"-o": "--timeout", "-f": "--fast", "-k": "--keepalive", "-w": "--workers"}


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare the program, and how to run it."""
    add_target(parser)
    add, on_off = parser.add_argument, argparse.BooleanOptionalAction
    add("--timeout", metavar="TIME", type=time_option, help="stop at this logical time, such as 500ms")
    add("--fast", action=on_off, help="do not wait for physical time")
    add("--keepalive", action=on_off, help="do not end when nothing is left to do")
    add("--executor", choices=EXECUTORS, help="how to run (default: inline; Lingua Franca: auto)")
    add("--workers", metavar="N", type=count_option,
        help="workers of a parallel executor (default: CPUs; with mpi: ranks)")  # fmt: skip
    add("--library-threads", metavar="N", type=count_option, help="threads of NumPy and torch per worker (default: 1)")


def executed(options: argparse.Namespace, trace: bool) -> tuple[Program, RunResult]:
    """Run the program that the options name. With --json its own output goes to standard error."""
    together: AbstractContextManager[None] = nullcontext()
    if options.executor == "mpi":  # if one rank cannot make the program, none runs it
        from reactorlib.mpi.ranks import joined  # for this executor only

        together = joined().together("the program")
    with together:
        cls, parameters = resolved(options)
        program = elaborate(cls, **parameters)
    names = ("timeout", "fast", "keepalive", "executor", "workers", "library_threads")
    given = {name: getattr(options, name) for name in names}
    asked = {**{name: value for name, value in given.items() if value is not None}, **_asked_by(program, options)}
    # Standard output is for the JSON; a program that runs in other processes still prints where it likes.
    with redirect_stdout(sys.stderr if options.json else sys.stdout):
        result = run_program(program, **asked, trace=trace)
    return program, result


def speaks() -> bool:
    """Whether this process reports the result of a run: of several ranks, the first does."""
    ranks = sys.modules.get("reactorlib.mpi.ranks")
    return ranks is None or ranks.is_first()


def _asked_by(program: Program, options: argparse.Namespace) -> dict[str, Any]:
    """The options in the target declaration of a Lingua Franca program. Those of the command take precedence."""
    if not hasattr(program.cls, "__lf__"):
        return {}
    from reactorlib.lf import execution, run_options  # for these programs only

    how, words = execution(program, options.executor, options.workers)
    if words is not None:
        complain(f"{options.target}: {words}")
    asked = {name: value for name, value in run_options(program.cls).items() if getattr(options, name) is None}
    return {**asked, **how}


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The arguments of `run`, with the short forms of a compiled Lingua Franca program spelled out.

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

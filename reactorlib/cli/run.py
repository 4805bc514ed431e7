"""Run a program until it ends, or until --timeout.

examples:
  python -m reactorlib run examples/powers.py:Powers
  python -m reactorlib run examples/powers.py:Powers --set workers=8 --executor processes --workers 2
  python -m reactorlib run examples/furnace.py:Furnace --timeout 9s --fast --digest
  mpiexec -n 2 python -m reactorlib run examples/powers.py:Powers --executor mpi
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, get_args

from reactorlib import ExecutorName, Program, RunResult, elaborate
from reactorlib import run as run_program
from reactorlib.cli.output import Result, complain
from reactorlib.cli.target import TARGET, count_option, option, resolved, time_option
from reactorlib.tag import UNITS

_SHORT = {"-o": "--timeout", "-f": "--fast", "-k": "--keepalive", "-w": "--workers"}
_ON_OFF = argparse.BooleanOptionalAction
RUNNING = [
    *TARGET,
    option("--timeout", metavar="TIME", type=time_option, help="stop at this logical time, such as 500ms"),
    option("--fast", action=_ON_OFF, help="do not wait for physical time"),
    option("--keepalive", action=_ON_OFF, help="do not end when nothing is left to do"),
    option("--executor", choices=get_args(ExecutorName),
           help="how to run (default: inline, or auto with --workers and for Lingua Franca)"),
    option("--workers", metavar="N", type=count_option,
           help="workers of a parallel executor (default: the CPUs, or the ranks with mpi)"),
    option("--library-threads", metavar="N", type=count_option,
           help="threads of NumPy and torch per worker (default with several: as OMP_NUM_THREADS says, else 1)"),
]  # fmt: skip
ARGUMENTS = [
    *RUNNING,
    option("--digest", action="store_true", help="print the trace digest, equal for runs that did the same"),
]


def run(options: argparse.Namespace) -> Result:
    """Run the program."""
    _, result = executed(options, trace=options.digest)
    record = {
        "time_ns": result.tag.time, "microstep": result.tag.microstep, "executor": result.executor,
        "workers": result.workers, "reason": result.reason, "start_method": result.start_method,
        "digest": result.digest,
    }  # fmt: skip
    return Result(record, result.digest or "" if options.digest else "")


def executed(options: argparse.Namespace, trace: bool) -> tuple[Program, RunResult]:
    """Run the program that the options name."""
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
    result = run_program(program, **asked, trace=trace)
    if options.workers and options.executor == "inline" and result.reason:
        complain(f"warning: {result.reason}")
    return program, result


def prints(options: argparse.Namespace) -> bool:
    """Whether standard output is also the program's: where it runs, unless the result is JSON."""
    return hasattr(options, "fast") and not options.json


def speaks() -> bool:
    """Whether this process reports the result of a run: of several ranks, the first does."""
    ranks = sys.modules.get("reactorlib.mpi.ranks")
    return ranks is None or ranks.is_first()


def _asked_by(program: Program, options: argparse.Namespace) -> dict[str, Any]:
    """The options in the target declaration of a Lingua Franca program. Those of the command take precedence.

    Any other program with --workers runs on a parallel executor.
    """
    if not hasattr(program.cls, "__lf__"):
        return {"executor": "auto"} if options.workers and options.executor is None else {}
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

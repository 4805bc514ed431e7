"""Run a program until it ends, or until --timeout.

examples:
  python -m reactorlib run examples/powers.py:Powers
  python -m reactorlib run examples/powers.py:Powers --set workers=8 --executor processes --workers 2
  python -m reactorlib run examples/furnace.py:Furnace --timeout 9s --fast --digest
  mpiexec -n 2 python -m reactorlib run examples/powers.py:Powers --executor mpi
"""

from __future__ import annotations

import argparse

from reactorlib.cli.output import Result
from reactorlib.cli.run_options import add_running, executed


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_running(parser)
    parser.add_argument(
        "--digest", action="store_true", help="print the trace digest, equal for runs that did the same"
    )


def run(options: argparse.Namespace) -> Result:
    """Run the program."""
    _, result = executed(options, trace=options.digest)
    record = {
        "time_ns": result.tag.time, "microstep": result.tag.microstep, "executor": result.executor,
        "workers": result.workers, "reason": result.reason, "start_method": result.start_method,
        "digest": result.digest,
    }  # fmt: skip
    return Result(record, result.digest or "" if options.digest else "")

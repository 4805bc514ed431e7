"""`python -m reactorlib run`: run a program to its end."""

from __future__ import annotations

import argparse
import json
from typing import Any

from reactorlib.cli.run_options import add_running, executed, speaks
from reactorlib.cli.target import add_target

_EPILOG = """\
examples:
  python -m reactorlib run examples/powers.py:Powers
  python -m reactorlib run examples/powers.py:Powers --set workers=8 --executor processes --workers 2
  python -m reactorlib run examples/furnace.py:Furnace --timeout 9s --fast --digest
  mpiexec -n 2 python -m reactorlib run examples/powers.py:Powers --executor mpi
"""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run", help="run a program", description="Run a program until it ends, or until --timeout.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add_target(parser)
    add_running(parser)
    parser.add_argument(
        "--digest", action="store_true", help="print the trace digest, equal for runs that did the same"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Run, and print what was asked for."""
    _, result = executed(options, trace=options.digest)
    if not speaks():
        return 0
    if options.json:
        print(json.dumps({
            "time_ns": result.tag.time, "microstep": result.tag.microstep, "executor": result.executor,
            "workers": result.workers, "reason": result.reason, "start_method": result.start_method,
            "digest": result.digest,
        }))  # fmt: skip
    elif options.digest:
        print(result.digest)
    return 0

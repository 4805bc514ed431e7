"""`python -m reactorlib check`: every static fault of a program, without running it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from reactorlib.cli.output import complain_of
from reactorlib.cli.target import add_target, resolved
from reactorlib.elaboration.elaborate import examine

_EPILOG = """\
The exit code is 0 without a fault, else 1. Of very many faults the first and the last are shown, with --json all. Of a
Lingua Franca file for another target than Python the structure is checked, without its code.

examples:
  python -m reactorlib check examples/powers.py:Powers --set workers=8
  python -m reactorlib check examples/powers.py:Powers --json
  python -m reactorlib check examples/rl_pipeline.lf
"""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check", help="say what is wrong with a program",
        description="Construct a program without running it, and tell every fault.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add_target(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Tell the faults, or that there are none."""
    cls, parameters = resolved(options, structure=None)
    program, faults = examine(cls, **parameters)
    counts = {"reactors": len(program.instances), "reactions": len(program.reactions)}
    if options.json:
        print(json.dumps({"program": cls.__name__, **counts, "faults": faults}))
    else:
        complain_of(faults)
        if not faults:
            print(f"{cls.__name__}: {counts['reactors']} reactors, {counts['reactions']} reactions, no fault")
    return 1 if faults else 0

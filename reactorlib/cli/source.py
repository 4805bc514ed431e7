"""`python -m reactorlib source`: the schedule that the compiler writes for a set of triggers."""

from __future__ import annotations

import argparse
import json
from typing import Any

from reactorlib.cli.output import UsageError
from reactorlib.cli.target import add_target, count_option, resolved
from reactorlib.errors import ReactorError
from reactorlib.program import elaborate

_EPILOG = """\
A trigger is a timer or an action by its path (hub.tick), a delayed connection by the port where it begins
(hub.number), or startup and shutdown. Several make the schedule of a tag at which all of them are present.

examples:
  python -m reactorlib source examples/powers.py:Powers
  python -m reactorlib source examples/powers.py:Powers --trigger hub.number
  python -m reactorlib source examples/powers.py:Powers --trigger hub.number --workers 2
  python -m reactorlib source examples/powers.py:Powers --list
"""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "source", help="show the compiled schedule of a program",
        description="Show the Python source that runs a tag: the reactions that can follow, in their order.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add_target(parser)
    parser.add_argument("--trigger", metavar="PATH", action="append", default=[], help="default: startup; repeatable")
    parser.add_argument(
        "--workers", metavar="N", type=count_option, default=1,
        help="show where reactors live and each worker's schedule, with its sends and waits (default: 1)",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the triggers of the program instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print the source, or the triggers."""
    cls, parameters = resolved(options)
    program = elaborate(cls, **parameters)
    known = list(dict.fromkeys(trigger.path for trigger in program.triggers))
    if options.list:
        print(json.dumps({"triggers": known}) if options.json else "\n".join(known))
        return 0
    chosen = options.trigger or ["startup"]
    try:
        text = program.source(*chosen, workers=options.workers)
    except ReactorError as error:
        raise UsageError(error) from error
    print(json.dumps({"triggers": chosen, "source": text}) if options.json else text, end="\n" if options.json else "")
    return 0

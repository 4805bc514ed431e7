"""Show the Python source that runs a tag: the reactions that can follow, in their order.

A trigger is startup, shutdown, the path of a timer or an action (hub.tick), or the port where a delayed connection
begins (hub.number). Several make the schedule of a tag at which all of them are present.

examples:
  python -m reactorlib source examples/powers.py:Powers
  python -m reactorlib source examples/powers.py:Powers --trigger hub.number
  python -m reactorlib source examples/powers.py:Powers --trigger hub.number --workers 2
  python -m reactorlib source examples/powers.py:Powers --list
"""

from __future__ import annotations

import argparse

from reactorlib import ReactorError, elaborate
from reactorlib.cli.output import Result, UsageError
from reactorlib.cli.target import TARGET, count_option, option, resolved

ARGUMENTS = [
    *TARGET,
    option("--trigger", metavar="PATH", action="append", default=[], help="a trigger, repeatable (default: startup)"),
    option("--workers", metavar="N", type=count_option, default=1,
           help="show where reactors run, and each worker's schedule with its sends and waits (default: 1)"),
    option("--list", action="store_true", help="list the triggers of the program instead"),
]  # fmt: skip


def run(options: argparse.Namespace) -> Result:
    """Compile the schedule, or list the triggers."""
    cls, parameters = resolved(options)
    program = elaborate(cls, **parameters)
    if options.list:
        known = list(dict.fromkeys(trigger.path for trigger in program.triggers))
        return Result({"triggers": known}, "\n".join(known))
    from reactorlib.lf import federates  # for this command only

    chosen, workers = options.trigger or ["startup"], options.workers
    try:
        text = program.source(*chosen, workers=workers, placement=federates(program, workers))
    except ReactorError as error:
        raise UsageError(error) from error
    return Result({"triggers": chosen, "source": text}, text.removesuffix("\n"))

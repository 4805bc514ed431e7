"""Show one environment's step again, from the record of a ReactorPool.

The record is the file of ReactorPool(..., record=FILE). Only this environment is made, and it takes all its steps from
the beginning. The record is a pickle and holds code, which runs: read only records that you trust.

exit code: 1 where the step is not as in the record

example:
  python -m reactorlib replay pool.record --env 5 --step 1200
"""

from __future__ import annotations

import argparse

from reactorlib.cli.output import Result, UsageError
from reactorlib.cli.target import option

ARGUMENTS = [
    option("path", metavar="FILE", help="the record"),
    option("--env", type=int, required=True, metavar="N", help="the number of the environment, from 0"),
    option("--step", type=int, required=True, metavar="N", help="the number of the step, or 0 for the first reset"),
]


def run(options: argparse.Namespace) -> Result:
    """Show the step."""
    try:
        from reactorlib.gymnasium.replayed_step import replayed_step
    except ImportError as error:
        raise UsageError(f"records of pools need Gymnasium: {error}") from error
    try:
        found = replayed_step(options.path, options.env, options.step)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    shown = {name: value for name, value in found._asdict().items() if name != "differences"}
    lines = [f"{name}: {value}" for name, value in shown.items()]
    what = f"step {found.step} is not as in the record: {', '.join(found.differences)}"
    lines += [] if found.differences else ["as in the record"]
    record = {name: value if isinstance(value, int | float | bool) else repr(value) for name, value in shown.items()}
    faults = [what] if found.differences else []
    return Result({**record, "differences": found.differences}, "\n".join(lines), faults)

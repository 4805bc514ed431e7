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
    from reactorlib.gymnasium.pool import replayed_step  # for this command only, as it needs Gymnasium

    try:
        found = replayed_step(options.path, options.env, options.step)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    shown = found._asdict()
    differences = shown.pop("differences")
    lines = [f"{name}: {value}" for name, value in shown.items()]
    lines += [] if differences else ["as in the record"]
    faults = [f"step {found.step} is not as in the record: {', '.join(differences)}"] if differences else []
    record = {name: value if isinstance(value, int | float | bool) else repr(value) for name, value in shown.items()}
    return Result({**record, "differences": differences}, "\n".join(lines), faults)

"""Warn of runs of one experiment whose environments share random streams.

With Gymnasium's rule, environment i of a run gets the run's seed + i. Runs with the seeds 0 and 1 then have all streams
but one in common, and their difference says little about chance. ReactorVectorEnv(..., seeds="spawn") avoids it.

The exit code is 1 if two runs share streams.

examples:
  python -m reactorlib seeds 0 1 2 --envs 16
  python -m reactorlib seeds 0 1 2 --envs 16 --rule spawn
"""

from __future__ import annotations

import argparse

from reactorlib.cli.output import Result, UsageError
from reactorlib.cli.target import count_option, option

_MOST = 10  # pairs that are listed

ARGUMENTS = [
    option("seeds", nargs="+", type=int, metavar="SEED", help="of each run"),
    option("--envs", type=count_option, required=True, metavar="N", help="environments of a run"),
    option("--rule", choices=("consecutive", "spawn"), default="consecutive", help="as `seeds` of ReactorVectorEnv"),
]


def run(options: argparse.Namespace) -> Result:
    """Compare the runs."""
    from reactorlib.gymnasium.seeding import overlaps  # for this command only, as it needs Gymnasium

    seeds, envs = options.seeds, options.envs
    if min(seeds) < 0:
        raise UsageError(f"a seed is not negative, got {min(seeds)}")
    found = [*overlaps(seeds, envs, options.rule)]
    lines = [f"seeds {one} and {other} share {streams} of {envs} streams" for one, other, streams in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more pairs")
    apart = " ".join(str(min(seeds) + place * envs) for place in range(len(seeds)))
    lines.append(f'warning: use seeds="spawn", or the seeds {apart}' if found else "no two runs share a stream")
    record = {"seeds": seeds, "envs": envs, "rule": options.rule, "overlaps": [one._asdict() for one in found]}
    return Result(record, "\n".join(lines), failed=bool(found))

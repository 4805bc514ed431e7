"""Warn of runs of one experiment whose environments share random streams.

With Gymnasium's rule, environment i of a run gets the run's seed + i. Runs with the seeds 0 and 1 then have all streams
but one in common, and their difference says little about chance. ReactorVectorEnv(..., seeds="spawn") avoids it.

Libraries seed in these ways, as found by running them:

  rule                shared within a run            shared by the runs 0 and 1, of 8 environments each
  consecutive         nothing                        7, as in Gymnasium
  stable-baselines3   nothing                        7 (2.9.2; DLR-RM/stable-baselines3#2268)
  rllib               7 of 8 by runners 1 and 2      8: runner 2 of run 0 is runner 1 of run 1 (2.60)
  spawn               nothing                        nothing

RLlib gives runner w the seed of its config + w, and Gymnasium gives environment i of it that seed + i. Without a seed
in the config, nothing is shared.

The exit code is 1 if streams are shared.

examples:
  python -m reactorlib seeds 0 1 2 --envs 16
  python -m reactorlib seeds 0 1 2 --envs 16 --rule spawn
  python -m reactorlib seeds 0 --envs 8 --rule rllib --runners 2
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from reactorlib.cli.output import Result, UsageError
from reactorlib.cli.target import count_option, option

_MOST = 10  # pairs that are listed

ARGUMENTS = [
    option("seeds", nargs="+", type=int, metavar="SEED", help="of each run"),
    option("--envs", type=count_option, required=True, metavar="N", help="environments of a run, or of a runner"),
    option(
        "--rule",
        choices=("consecutive", "spawn", "stable-baselines3", "rllib"),
        default="consecutive",
        help="as `seeds` of ReactorVectorEnv, or of a library (default: consecutive)",
    ),
    option("--runners", type=count_option, default=1, metavar="N", help="env runners of a run of RLlib (default: 1)"),
]


def run(options: argparse.Namespace) -> Result:
    """Compare the runs, or the env runners of RLlib, of each run and of different ones."""
    from reactorlib.gymnasium.seeding import seeds_of  # for this command only, as it needs Gymnasium

    seeds, envs, runners = options.seeds, options.envs, options.runners
    if min(seeds) < 0:
        raise UsageError(f"a seed is not negative, got {min(seeds)}")
    record = {"seeds": seeds, "envs": envs, "rule": options.rule}
    if options.rule == "rllib":
        first = {f"runner {w} of seed {seed}": seed + w for seed in seeds for w in range(1, runners + 1)}
        found = overlaps([(name, seeds_of(seed, envs)) for name, seed in first.items()])
        record["runners"] = runners
        what, who, remedy = "", "runners", "without a seed in its config, runners share nothing"
    elif runners > 1:
        raise UsageError("--runners needs --rule rllib")
    else:
        rule = "spawn" if options.rule == "spawn" else "consecutive"
        found = overlaps([(seed, seeds_of(seed, envs, rule)) for seed in seeds])
        apart = " ".join(str(min(seeds) + place * envs) for place in range(len(seeds)))
        what, who, remedy = "seeds ", "runs", f'use seeds="spawn", or the seeds {apart}'
    lines = ["{what}{one} and {other} share {streams} of {envs} streams".format(**pair, what=what, envs=envs)
             for pair in found[:_MOST]]  # fmt: skip
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more pairs")
    lines.append(f"warning: {remedy}" if found else f"no two {who} share a stream")
    return Result({**record, "overlaps": found}, "\n".join(lines), failed=bool(found))


def overlaps(runs: Sequence[tuple[Any, Sequence[int]]]) -> list[dict[str, Any]]:
    """The pairs of named runs of which environments share a seed, with the number of these streams.

    >>> overlaps([("a", [0, 1, 2]), ("b", [1, 2, 3]), ("c", [4])])
    [{'one': 'a', 'other': 'b', 'streams': 2}]
    """
    known = [(name, {*seeds}) for name, seeds in runs]
    return [
        {"one": one, "other": other, "streams": len(mine & theirs)}
        for (one, mine), (other, theirs) in combinations(known, 2)
        if mine & theirs
    ]

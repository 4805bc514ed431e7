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
from itertools import combinations

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
    """Compare the runs."""
    from reactorlib.gymnasium.seeding import overlaps  # for this command only, as it needs Gymnasium

    seeds, envs = options.seeds, options.envs
    if min(seeds) < 0:
        raise UsageError(f"a seed is not negative, got {min(seeds)}")
    if options.rule == "rllib":
        return _of_runners(seeds, envs, options.runners)
    if options.runners > 1:
        raise UsageError("--runners needs --rule rllib")
    rule = "spawn" if options.rule == "spawn" else "consecutive"
    found = [*overlaps(seeds, envs, rule)]
    lines = [f"seeds {one} and {other} share {streams} of {envs} streams" for one, other, streams in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more pairs")
    apart = " ".join(str(min(seeds) + place * envs) for place in range(len(seeds)))
    lines.append(f'warning: use seeds="spawn", or the seeds {apart}' if found else "no two runs share a stream")
    record = {"seeds": seeds, "envs": envs, "rule": options.rule, "overlaps": [one._asdict() for one in found]}
    return Result(record, "\n".join(lines), failed=bool(found))


def _of_runners(seeds: list[int], envs: int, runners: int) -> Result:
    """Compare the env runners of RLlib, of each run and of different ones."""
    first = {f"runner {w} of seed {seed}": seed + w for seed in seeds for w in range(1, runners + 1)}
    found = [(one, other, envs - abs(first[one] - first[other])) for one, other in combinations(first, 2)]
    found = [(one, other, streams) for one, other, streams in found if streams > 0]
    lines = [f"{one} and {other} share {streams} of {envs} streams" for one, other, streams in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more pairs")
    lines.append("warning: without a seed in its config, runners share nothing" if found
                 else "no two runners share a stream")  # fmt: skip
    overlaps = [{"one": one, "other": other, "streams": streams} for one, other, streams in found]
    record = {"seeds": seeds, "envs": envs, "rule": "rllib", "runners": runners, "overlaps": overlaps}
    return Result(record, "\n".join(lines), failed=bool(found))

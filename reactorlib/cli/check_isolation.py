"""Report what an environment depends on besides its seed and actions.

ENV is the id of an environment of Gymnasium, module:Env-v0 for one that a module registers, or module:function or
file.py:function for what makes it. The environment is played in processes that the check starts, alone, next to others,
in threads and in other surroundings. Cheap environments take some seconds, and none longer than the limit.

The exit code is 0 if it depends on its seed and actions alone, else 1.

examples:
  python -m reactorlib check-isolation CartPole-v1
  python -m reactorlib check-isolation path/to/my_env.py:make_env --steps 500
  python -m reactorlib check-isolation ale_py:ALE/Pong-v5 --limit 30s --json
"""

from __future__ import annotations

import argparse

from reactorlib import SEC
from reactorlib.cli.output import Result, UsageError
from reactorlib.cli.target import count_option, option, time_option

ARGUMENTS = [
    option("env", metavar="ENV", help="id, module:Env-v0, module:function or file.py:function"),
    option("--steps", type=count_option, default=100, metavar="N", help="how long a play is (default: 100)"),
    option("--seed", type=int, default=0, metavar="N", help="of the environment (default: 0)"),
    option("--limit", type=time_option, default=60 * SEC, metavar="TIME", help="of the whole check (default: 60s)"),
]


def run(options: argparse.Namespace) -> Result:
    """Check it."""
    from reactorlib.gymnasium.isolation import check_isolation  # for this command only, as it needs Gymnasium

    try:
        found = check_isolation(options.env, steps=options.steps, seed=options.seed, limit_s=options.limit / SEC)
    except RuntimeError as error:
        raise UsageError(str(error)) from error
    return Result(found.as_json(), str(found), failed=not found.is_isolated)

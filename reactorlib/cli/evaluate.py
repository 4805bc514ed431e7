"""Play episodes of an environment with a policy, and write a row for each, whatever the number of environments.

ENV is the id of an environment of Gymnasium, module:Env-v0, module:function or file.py:function. The policy is a
function of module:function or file.py:function. It gets a batch of observations and returns a batch of actions. Episode
k has the seed k, and an environment of its own. An episode that raises or hangs is a row as well.

With -o FILE, the rows are lines of JSON after a header with versions. They do not depend on --envs and --workers. That
needs an environment that depends on its seed and actions alone, and a policy that computes each row by itself. So
`diff` shows whether a score depends on the number of environments. If it does, try --policy-batch 1, then
check-isolation.

The last line is the mean return with its 95 % confidence interval, and the number of episodes that failed. The exit
code is 1 if there are such.

examples:
  python -m reactorlib evaluate CartPole-v1 --policy my_policy.py:policy
  python -m reactorlib evaluate my_env.py:make_env --policy my_policy.py:policy --envs 1 -o one.jsonl
  python -m reactorlib evaluate my_env.py:make_env --policy my_policy.py:policy --envs 16 -o many.jsonl
  diff one.jsonl many.jsonl
  python -m reactorlib evaluate my_env.py:make_env --policy my_policy.py:policy --step-limit 30s -o one.jsonl --resume
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from reactorlib.cli.output import Result, UsageError, check_writable
from reactorlib.cli.target import count_option, option, time_option
from reactorlib.errors import RunError
from reactorlib.tag import SEC
from reactorlib.tool import user_module

INTERRUPTED = "interrupted: -o has the finished episodes, and --resume plays the others"
_PROGRESS_S = 1.0  # between two lines

ARGUMENTS = [
    option("env", metavar="ENV", help="id, module:Env-v0, module:function or file.py:function"),
    option("--policy", required=True, metavar="POLICY", help="module:function or file.py:function"),
    option("--episodes", type=count_option, default=100, metavar="N", help="with the seeds 0 to N-1 (default: 100)"),
    option("--envs", type=count_option, default=16, metavar="N", help="episodes at the same time (default: 16)"),
    option("--workers", type=count_option, metavar="N", help="that step them (default: what pays)"),
    option("--executor", choices=("processes", "threads", "inline"), help="how they are stepped (default: what pays)"),
    option("--policy-batch", type=count_option, metavar="N", help="always give the policy N rows (default: all)"),
    option("--max-steps", type=count_option, metavar="N", help="truncate an episode after these (default: never)"),
    option("--step-limit", type=time_option, metavar="TIME", help="end an episode whose call takes longer, as 30s"),
    option("--reuse", action="store_true", help="keep an environment for several episodes: see how it resets"),
    option("--isolate", choices=("generators", "processes"), help="as of ReactorVectorEnv"),
    option("-o", "--output", metavar="FILE", help="write the rows to this file"),
    option("--resume", action="store_true", help="play only the episodes that FILE lacks"),
]  # fmt: skip
_FACTS = ("env", "policy", "policy_batch", "max_steps", "reuse", "isolate")  # that a row may depend on


def run(options: argparse.Namespace) -> Result:
    """Play the episodes."""
    from reactorlib.gymnasium.evaluation import evaluate  # for this command only, as it needs Gymnasium

    _named(options.env)
    policy = _policy(options.policy)
    given = {"executor": options.executor} if options.executor else {}
    limit_s = options.step_limit / SEC if options.step_limit else None
    with _file(options) as (done, keep), _misuse(options.env):
        found = evaluate(
            options.env, policy, options.episodes, options.envs, options.workers, policy_batch=options.policy_batch,
            max_steps=options.max_steps, step_limit_s=limit_s, reuse=options.reuse, isolate=options.isolate or False,
            done=done, on_row=_progress(options.episodes, len(done), keep), **given,
        )  # fmt: skip
    mean, half = (None if math.isnan(one) else one for one in (found.mean_return, found.half_width))  # as JSON wants it
    record = {"mean_return": mean, "half_width": half, "success_rate": found.success_rate, "errors": found.errors,
              "rows": [row._asdict() for row in found.rows]}  # fmt: skip
    return Result(record, str(found), failed=found.errors > 0)


@contextmanager
def _file(options: argparse.Namespace) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """The rows that the file has, and a function that adds one. Afterwards they are in order, whatever happened."""
    from reactorlib.gymnasium.evaluation import file_header, file_line, write_file

    path, rows = options.output, []
    if path is None:
        if options.resume:
            raise UsageError("--resume needs the file of -o")
        yield (), lambda _row: None
        return
    head = file_header(**{name: getattr(options, name) for name in _FACTS})
    if Path(path).exists():
        if not options.resume:
            raise UsageError(f"{path} exists: --resume completes it")
        rows = list(_rows_of(path, head))
    check_writable(path)
    write_file(path, head, rows)
    done = [row for row in rows if row.episode < options.episodes]
    with Path(path).open("a", encoding="utf-8") as appended:

        def keep(row: Any) -> None:
            rows.append(row)
            appended.write(file_line(row._asdict()))
            appended.flush()

        try:
            yield done, keep
        finally:
            write_file(path, head, sorted(rows))


def _rows_of(path: str, head: dict[str, Any]) -> Any:
    from reactorlib.gymnasium.evaluation import read_file

    try:
        had, evaluation = read_file(path)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if other := [name for name in head if had.get(name) != head[name]]:
        raise UsageError(f"{path} is of another evaluation: it differs in {', '.join(other)}")
    return evaluation.rows


def _policy(name: str) -> Any:
    place, colon, attribute = name.rpartition(":")
    if not colon:
        raise UsageError(f"--policy wants module:function or file.py:function, got {name!r}")
    policy = _named(name)
    if getattr(policy, "keywords", None) == {} and policy.args == (attribute,):  # that of an environment's id
        raise UsageError(f"{place} has no function {attribute!r}")
    return policy


def _named(name: str) -> Any:
    """The function of this name, or one that makes the environment of this id. UsageError if it has no module."""
    from reactorlib.gymnasium.isolation import maker

    try:
        return maker(name)
    except (Exception, SystemExit) as error:
        raise UsageError(user_module.failure(name.rpartition(":")[0], error)) from error


@contextmanager
def _misuse(env: str) -> Iterator[None]:
    """Turn the errors of an environment that does not exist, and of options that do not fit, into one of the call."""
    try:
        yield
    except RunError as error:
        raise UsageError(f"{env}: {error}") from error
    except Exception as error:
        if type(error).__module__ == "gymnasium.error":  # it has no such id
            raise UsageError(f"{env}: {error}") from error
        if isinstance(error, ValueError) and str(error).startswith("`"):  # the name of an argument of `evaluate`
            raise UsageError(str(error)) from error
        raise


def _progress(episodes: int, finished: int, keep: Callable[[Any], None]) -> Callable[[Any], None]:
    """Keep each row, and say on standard error how far it is, at most once in a second."""
    began, count = monotonic(), finished

    def on_row(row: Any) -> None:
        nonlocal began, count
        keep(row)
        count += 1
        if monotonic() - began >= _PROGRESS_S:
            began = monotonic()
            print(f"{count} of {episodes} episodes", file=sys.stderr)

    return on_row

"""Play episodes of an environment with a policy, and write a row for each, whatever the number of environments.

ENV is the id of an environment of Gymnasium, module:Env-v0, module:function or file.py:function. The policy is a
function of module:function or file.py:function. It gets a batch of observations and returns a batch of actions. Episode
k has the seed k, and an environment of its own. An episode that raises or hangs is a row as well.

With -o FILE, the rows are lines of JSON after a header with versions. They do not depend on --envs and --workers. That
needs an environment that depends on its seed and actions alone, and a policy that computes each row by itself. So
--compare shows whether a score depends on the number of environments. If it does, try --policy-batch 16, which a
network needs, then check-isolation.

The last line is the mean return with its 95 % confidence interval, and the number of episodes that failed. The exit
code is 1 if an episode failed. With --compare it is 1 if rows differ.

examples:
  python -m reactorlib evaluate CartPole-v1 --policy my_policy.py:policy
  python -m reactorlib evaluate my_env.py:make_env --policy my_policy.py:policy --envs 1 -o one.jsonl
  python -m reactorlib evaluate my_env.py:make_env --policy my_policy.py:policy --envs 16 -o many.jsonl
  python -m reactorlib evaluate --compare one.jsonl many.jsonl
  python -m reactorlib evaluate my_env.py:make_env --policy my_policy.py:policy --step-limit 30s -o one.jsonl --resume
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any

from reactorlib import SEC, ReactorError, RunError
from reactorlib.cli.output import Result, UsageError, check_writable, show_traceback
from reactorlib.cli.target import count_option, option, time_option
from reactorlib.tool import user_module

_PROGRESS_S = 1.0  # between two lines

ARGUMENTS = [
    option("env", nargs="?", metavar="ENV", help="id, module:Env-v0, module:function or file.py:function"),
    option("--policy", metavar="POLICY", help="module:function or file.py:function"),
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
    option("--compare", nargs=2, metavar="FILE", help="compare two files instead: how many rows differ, and how far"),
]  # fmt: skip
_FACTS = ("env", "policy", "policy_batch", "max_steps", "reuse", "isolate")  # that a row may depend on


def run(options: argparse.Namespace) -> Result:
    """Play the episodes."""
    if options.compare:
        return _compared(*options.compare)
    if not (options.env and options.policy):
        raise UsageError("ENV and --policy are needed, or --compare with two files")
    from reactorlib.gymnasium.evaluation import evaluate  # for this command only, as it needs Gymnasium

    _named(options.env)
    policy = _policy(options.policy)
    given = {"executor": options.executor} if options.executor else {}
    limit_s = None if options.step_limit is None else options.step_limit / SEC
    with _file(options) as (done, keep), _misuse(options):
        found = evaluate(
            options.env, policy, options.episodes, options.envs, options.workers, policy_batch=options.policy_batch,
            max_steps=options.max_steps, step_limit_s=limit_s, reuse=options.reuse, isolate=options.isolate or False,
            done=done, on_row=_progress(options.episodes, len(done), keep), **given,
        )  # fmt: skip
    mean, half = (None if math.isnan(one) else one for one in (found.mean_return, found.half_width))  # as JSON wants it
    record = {"mean_return": mean, "half_width": half, "success_rate": found.success_rate, "errors": found.errors,
              "rows": [row._asdict() for row in found.rows]}  # fmt: skip
    return Result(record, str(found), failed=found.errors > 0)


def _compared(*paths: str) -> Result:
    """The result of comparing two files. It failed if rows differ."""
    (head, one), (other_head, other) = map(_read, paths)
    facts, numbers = _differing(head, other_head), [*one.differences(other)]
    header = f"\nthe headers differ in {', '.join(facts)}" if facts else ""
    return Result({"episodes": numbers, "header": facts}, one.compare(other) + header, failed=bool(numbers))


@contextmanager
def _file(options: argparse.Namespace) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """The rows that the file has, and a function that adds one. Afterwards they are in order, whatever happened.

    A new file is written with its first row.
    """
    from reactorlib.gymnasium.evaluation import file_header, file_line, write_file

    path, rows = options.output, []
    if path is None:
        if options.resume:
            raise UsageError("--resume needs the file of -o")
        yield (), lambda _row: None
        return
    files = {"env_file": _digest(options.env), "policy_file": _digest(options.policy)}
    head = file_header(**{name: getattr(options, name) for name in _FACTS}, **files)
    check_writable(path)
    if Path(path).exists():
        if not options.resume:
            raise UsageError(f"{path} exists: --resume completes it")
        had, evaluation = _read(path)
        if other := _differing(had, head):
            raise UsageError(f"{path} is of another evaluation: it differs in {', '.join(other)}")
        rows = list(evaluation.rows)
    done = [row for row in rows if row.episode < options.episodes]
    before = len(rows)

    def keep(row: Any) -> None:
        rows.append(row)
        if len(rows) == before + 1:  # the file is new, or its last line may be cut off
            write_file(path, head, rows)
            return
        with Path(path).open("a", encoding="utf-8") as appended:
            appended.write(file_line(row._asdict()))

    try:
        yield done, keep
    finally:
        if rows:
            write_file(path, head, sorted(rows))
            options.interrupted = f"interrupted: {path} has {len(rows)} episodes, and --resume plays the others"


def _read(path: str) -> Any:
    """The header and the evaluation of a file."""
    from reactorlib.gymnasium.evaluation import read_file

    try:
        return read_file(path)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The facts in which two headers differ."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _digest(name: str) -> str | None:
    """A digest of the file in which this function is, or None where the name has no file."""
    place = name.rpartition(":")[0]
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    return file and blake2b(Path(file).read_bytes(), digest_size=8).hexdigest()


def _policy(name: str) -> Any:
    """The policy of this name, which shows where it raises."""
    if ":" not in name:
        raise UsageError(f"--policy wants module:function or file.py:function, got {name!r}")
    policy = _named(name, has_ids=False)

    @wraps(policy)
    def shown(*args: Any, **kwargs: Any) -> Any:
        try:
            return policy(*args, **kwargs)
        except Exception as error:
            show_traceback(error)
            raise ReactorError(f"--policy {name} raised {type(error).__name__}") from error

    return shown


def _named(name: str, *, has_ids: bool = True) -> Any:
    """The function of this name, or one that makes the environment of this id. UsageError if there is none."""
    from reactorlib.gymnasium.isolation import maker

    place, _, attribute = name.rpartition(":")
    try:
        made = maker(name)
    except (Exception, SystemExit) as error:
        raise UsageError(user_module.failure(place, error)) from error
    module = user_module.of_file(Path(place).resolve()) if place.endswith(".py") else sys.modules.get(place)
    found = getattr(module, attribute, None)
    if found is not None and not callable(found):
        raise UsageError(f"{name} is of type {type(found).__name__}, not a function")
    known = {spec.name for spec in sys.modules["gymnasium"].registry.values()}
    if place and found is None and not (has_ids and (attribute in known or not attribute.isidentifier())):
        raise UsageError(f"{place} has no function {attribute!r}")
    return made


@contextmanager
def _misuse(options: argparse.Namespace) -> Iterator[None]:
    """Turn the errors of an environment that does not exist, and of options that do not fit, into one of the call."""
    try:
        yield
    except RunError as error:
        raise UsageError(f"{options.env}: {error}") from error
    except Exception as error:
        if type(error).__module__ == "gymnasium.error":  # it has no such id
            raise UsageError(f"{options.env}: {error}") from error
        argument = re.match(r"`(\w+?)(?:_s)?`", str(error))  # of `evaluate`
        if argument is None or argument[1] not in {*vars(options), "make_env"}:
            raise
        spelled = options.env if argument[1] == "make_env" else f"--{argument[1].replace('_', '-')}"
        raise UsageError(f"{spelled}{str(error)[argument.end() :]}") from error


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

"""`python -m benchmarks.regress`: is the working tree slower than a commit? Exit 0: no; 1: yes; 2: cannot be told."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.paths import FURTHER, HOT
from benchmarks.regress.errors import CannotCompareError
from benchmarks.regress.findings import Effort, Finding, find
from benchmarks.regress.subjects import FAST_BACKENDS, FAST_WORKLOADS, Compared, kernel_subjects, workload_subjects
from benchmarks.regress.trees import default_base, side_by_side
from harness.cli.options import setting
from harness.errors import UsageError
from harness.stats import judgement
from harness.stats.judgement import MIN_EFFECT, Judgement
from workloads.catalogue import BACKENDS, WORKLOADS

_ROOT = Path(__file__).resolve().parents[2]
_NONE = "none"

_DESCRIPTION = """\
Measure the working tree against a commit, in turns of milliseconds on this machine, and measure again what looks
slower. A regression is larger than --min-effect, and its interval excludes no change, both times.

exit status: 0 no regression; 1 regressions, a line each; 2 cannot compare, and why
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare; the exit status."""
    parsed = _parser().parse_args(arguments)
    try:
        subjects = _subjects(parsed)
        base = parsed.base or default_base(parsed.new)
        with side_by_side(base, parsed.new) as trees:
            effort = Effort(parsed.pairs, parsed.confirming_pairs, parsed.laps)
            found = find(trees, subjects, parsed.min_effect, effort, partial(print, file=sys.stderr, flush=True))
    except (CannotCompareError, UsageError) as error:
        print(f"cannot compare: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    slower = [finding for finding in found if finding.judgement is Judgement.REGRESSION]
    if parsed.json:
        print(json.dumps(_as_json(base, parsed.min_effect, found), indent=2))
    elif parsed.markdown:
        print(_as_markdown(base, found))
    else:
        for finding in found:
            print(f"{finding.judgement.value:11}  {finding.subject}: {judgement.describe(finding.factor)}")
        print(_conclusion(base, parsed.min_effect, found))
    return 1 if slower else 0


def _terminate(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)  # the copies of the trees are removed on the way out


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.regress",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--base", metavar="COMMIT|DIR", help="default: where this branch left origin/main, else the last commit")
    add("--new", type=Path, default=_ROOT, metavar="DIR", help="the working tree (default: this one)")
    add("--kernel", action="append", choices=[*HOT, *FURTHER, _NONE], help=f"repeatable (default: {', '.join(HOT)})")
    add(
        "--workload",
        action="append",
        choices=[*WORKLOADS, _NONE],
        help=f"smoke points; repeatable (default: {', '.join(FAST_WORKLOADS)})",
    )
    add(
        "--backend",
        action="append",
        choices=list(BACKENDS),
        help=f"of the workloads; repeatable (default: {', '.join(FAST_BACKENDS)})",
    )
    add("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE,...", help="as in `harness run`")
    add("--min-effect", type=_positive(float), default=MIN_EFFECT, metavar="X", help=f"default: {MIN_EFFECT}")
    effort = Effort()
    add("--pairs", type=_positive(int), default=effort.pairs, metavar="N", help=f"of processes ({effort.pairs})")
    add(
        "--confirming-pairs",
        type=_positive(int),
        default=effort.confirming_pairs,
        metavar="N",
        help=f"for what looks slower (default: {effort.confirming_pairs})",
    )
    add("--laps", type=_positive(int), default=effort.laps, metavar="N", help=f"turns of each process ({effort.laps})")
    add("--json", action="store_true", help="for programs")
    add("--markdown", action="store_true", help="a table for a page")
    return parser


def _positive(kind: type[int | float]) -> Any:
    def parse(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"must be more than 0, got {text}")
        return value

    return parse


def _subjects(parsed: argparse.Namespace) -> list[Compared]:
    found = list(kernel_subjects([name for name in parsed.kernel or HOT if name != _NONE]))
    workloads = [name for name in parsed.workload or FAST_WORKLOADS if name != _NONE]
    if workloads:
        settings = [setting(text) for text in parsed.settings]
        found += workload_subjects(workloads, parsed.backend or FAST_BACKENDS, settings)
    if not found:
        raise UsageError("nothing is left to measure")
    return found


def _conclusion(base: str, min_effect: float, found: Sequence[Finding]) -> str:
    slower = [finding for finding in found if finding.judgement is Judgement.REGRESSION]
    if not slower:
        return f"no regression of more than {min_effect:.0%} against {base}"
    return f"{len(slower)} of {len(found)} are slower than {base} by more than {min_effect:.0%}"


def _as_json(base: str, min_effect: float, found: Sequence[Finding]) -> dict[str, Any]:
    return {
        "base": base,
        "min_effect": min_effect,
        "subjects": [dataclasses.asdict(finding) | {"judgement": finding.judgement.value} for finding in found],
    }


def _as_markdown(base: str, found: Sequence[Finding]) -> str:
    lines = [
        f"### Speed against `{base[:12]}`, measured in turns",
        "",
        "| subject | change | verdict |",
        "|---|---:|---|",
    ]
    for finding in found:
        word = finding.judgement.value
        if finding.judgement is Judgement.REGRESSION:
            word = f"**{word}**"
        lines.append(f"| {finding.subject} | {judgement.describe(finding.factor)} | {word} |")
    return "\n".join(lines)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(main())

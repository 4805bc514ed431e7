"""`python -m benchmarks.regress`: is the working tree slower than a commit? The exit status is the answer."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.paths import HOT
from benchmarks.regress.findings import Finding, find
from benchmarks.regress.subjects import FAST_BACKENDS, FAST_WORKLOADS, kernel_subjects, workload_subjects
from benchmarks.regress.trees import default_base, side_by_side
from harness.cli.options import ALLOW, allowed, at_least
from harness.cli.run_command import end_on_signals
from harness.errors import Terminated, UsageError, interrupted
from harness.measure.measured_processes import OWN_TREE, Subject
from harness.plan.presets import TRIALS
from harness.report.markdown import markdown_table
from harness.report.text_table import TextTable
from harness.stats import judgement
from harness.stats.intervals import FEW
from harness.stats.judgement import MIN_EFFECT, Judgement
from reactorlib.tool import standard_output
from workloads.catalogue import BACKENDS, WORKLOADS

_NONE = "none"

_DESCRIPTION = """\
Measure the working tree against a commit, in turns of milliseconds on this machine, and measure again what looks
slower. A regression is larger than --min-effect both times, and the second look shows it. A subject that fails, or
computes something else, has no verdict, and the others are judged.

exit status: 0 no regression; 1 a regression; 2 a subject fails that works in the base, or nothing could be measured;
125 undecided, or another digest: `git bisect run` passes over the commit
"""


@standard_output.ended
def main(arguments: Sequence[str] | None = None) -> int:
    """Compare; the exit status."""
    parsed = options().parse_args(arguments)
    end_on_signals()
    try:
        subjects = _subjects(parsed)
        base = parsed.base or default_base(parsed.new)
        with side_by_side(base, parsed.new) as trees:
            tell = partial(print, file=sys.stderr, flush=True)
            found = find(trees, subjects, parsed.min_effect, parsed.trials, tell)
    except UsageError as error:
        print(f"cannot compare: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, Terminated) as error:
        return interrupted(error)
    rows = tuple((one.judgement.value, one.subject, one.words) for one in found)
    if parsed.markdown:
        table = TextTable("", ("verdict", "subject", "change"), rows)
        print(f"### Speed against `{base[:12]}`, measured in turns\n\n{markdown_table(table)}")
    else:
        for verdict, subject, change in rows:
            print(f"{verdict:12}  {subject}: {change}")
        print(_conclusion(base, parsed.min_effect, found))
    return judgement.exit_status([one.judgement for one in found], parsed.allow)


def options() -> argparse.ArgumentParser:
    """The parser of the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.regress", description=_DESCRIPTION, formatter_class=raw)
    add = parser.add_argument
    add("--base", metavar="COMMIT|DIR", help="default: where this branch left origin/main, else the last commit")
    add("--new", type=Path, default=OWN_TREE, metavar="DIR", help="the working tree (default: this one)")
    for option, known, usual in (
        ("--kernel", [*HOT, _NONE], HOT),
        ("--workload", [*WORKLOADS, _NONE], FAST_WORKLOADS),
        ("--backend", list(BACKENDS), FAST_BACKENDS),
    ):
        add(option, action="append", choices=known, help=f"repeatable (default: {', '.join(usual)})")
    add("--min-effect", type=at_least(float, 0.001), default=MIN_EFFECT, metavar="X", help=f"default: {MIN_EFFECT}")
    starts = f"starts of both trees (default: {TRIALS})"
    add("--trials", type=at_least(int, FEW + 1), default=TRIALS, metavar="N", help=starts)
    add("--allow", type=allowed, default=(), metavar="WORDS", help=ALLOW)
    add("--markdown", action="store_true", help="a table for a page")
    return parser


def _subjects(parsed: argparse.Namespace) -> list[Subject]:
    found = list(kernel_subjects([name for name in parsed.kernel or HOT if name != _NONE]))
    if workloads := [name for name in parsed.workload or FAST_WORKLOADS if name != _NONE]:
        found += workload_subjects(workloads, parsed.backend or FAST_BACKENDS)
    if not found:
        raise UsageError("nothing is left to measure")
    return found


def _conclusion(base: str, min_effect: float, found: Sequence[Finding]) -> str:
    counts = Counter(one.judgement for one in found)
    if slower := counts[Judgement.REGRESSION]:
        told = [f"{slower} of {len(found)} are slower than {base} by more than {min_effect:.0%}"]
    else:
        told = (
            [f"no regression of more than {min_effect:.0%} against {base}"] if any(one.factor for one in found) else []
        )
    without = [f"{counts[one]} {one.value}" for one in judgement.WITHOUT_ANSWER if counts[one]]
    return "; ".join([*told, *without])


if __name__ == "__main__":
    sys.exit(main())

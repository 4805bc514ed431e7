"""The command `compare`, which follows speed over commits. Owns its arguments and statuses."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.plan.metrics import MAIN_METRICS
from harness.report import run_changes, run_changes_text
from harness.stats.judgement import Judgement
from harness.store import finished_run, measurements

MIN_EFFECT = 0.1
TOO_UNCERTAIN = 3

_COMPARE = """\
Compare two runs of one grid by the ratios measured inside each: every reactor backend against serial, against Ray
and against the limit, where that was measured. A regression is larger than --min-effect, and would be as large
without a change in less than one of twenty such comparisons of all ratios together (Holm).

exit status: 0 no regression; 1 regressions, a line each; 2 cannot compare, and why; 3 with --strict, where no
regression is shown and the intervals of some ratios reach one all the same
"""


def add_command(subparsers: Any) -> None:
    """Add the command to the parser's."""
    raw = argparse.RawDescriptionHelpFormatter
    _add_compare(
        subparsers.add_parser(
            "compare", help="what became slower between two runs", description=_COMPARE, formatter_class=raw
        )
    )


def _add_compare(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("base", type=Path, metavar="BASE", help="the directory of the run before")
    add("new", type=Path, metavar="NEW", help="the directory of the run after")
    add(
        "--again",
        type=Path,
        nargs=2,
        metavar=("BASE", "NEW"),
        help="a second measurement of both: only what it shows as well is called a regression",
    )
    add("--min-effect", type=_effect, default=MIN_EFFECT, metavar="X", help=f"0.1 is 10 %% (default: {MIN_EFFECT})")
    add(
        "--metric",
        choices=measurements.METRICS,
        help="default: as in `report`, by the time that passed; cpu_time suffers less from other load, and tells "
        "nothing of waiting",
    )
    add("--strict", action="store_true", help="exit with 3 where a regression can't be excluded")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs")
    form.add_argument("--markdown", action="store_true", help="a table for a page")
    command.set_defaults(command=_compare)


def _effect(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None
    if not 0 <= value <= 10:
        raise argparse.ArgumentTypeError(f"must be from 0 to 10, got {text}")
    return value


def _compare(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    metrics = (parsed.metric,) if parsed.metric else MAIN_METRICS
    try:
        base, new = finished_run.load(parsed.base), finished_run.load(parsed.new)
        changes = run_changes.compare(base, new, parsed.min_effect, metrics)
        if parsed.again:
            first_base, first_new = base, new
            base, new = (finished_run.load(path) for path in parsed.again)
            for before, again in ((first_base, base), (first_new, new)):
                run_changes.check_repeated(before, again)
            changes = run_changes.confirmed(changes, run_changes.compare(base, new, parsed.min_effect, metrics))
    except UsageError as error:
        raise UsageError(f"cannot compare: {error}") from None
    if parsed.json:
        print(json.dumps(run_changes_text.as_json(base, new, changes, parsed.min_effect), indent=2))
    elif parsed.markdown:
        print(run_changes_text.as_markdown(base, new, changes, parsed.min_effect))
    else:
        print("\n".join(run_changes_text.lines(changes, parsed.min_effect)))
    judgements = {one.judgement for one in changes}
    if Judgement.REGRESSION in judgements:
        return 1
    return TOO_UNCERTAIN if parsed.strict and Judgement.UNCERTAIN in judgements else 0

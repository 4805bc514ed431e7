"""The commands that follow speed over commits: `compare`, `history`. Owns their arguments and statuses."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import compare_report, comparison, finished, history, history_report, record
from harness.change import Judgement
from harness.errors import UsageError
from harness.summary import MAIN_METRICS

MIN_EFFECT = 0.1
TOO_UNCERTAIN = 3

_COMPARE = """\
Compare two runs of one grid by the ratios measured inside each: every reactor backend against serial, against Ray
and against the limit, where that was measured. A regression is larger than --min-effect, and would be as large
without a change in less than one of twenty such comparisons of all ratios together (Holm).

exit status: 0 no regression; 1 regressions, a line each; 2 cannot compare, and why; 3 with --strict, where no
regression is shown and the intervals of some ratios reach one all the same
"""


def add_commands(subparsers: Any, runs: Path) -> None:
    """Add the commands to the parser's. `runs`: where runs are, unless told otherwise."""
    raw = argparse.RawDescriptionHelpFormatter
    _add_compare(
        subparsers.add_parser(
            "compare", help="what became slower between two runs", description=_COMPARE, formatter_class=raw
        )
    )
    _add_history(subparsers.add_parser("history", help="a number over commits"), runs)


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
        choices=record.METRICS,
        help="default: as in `report`, by the time that passed; cpu_time suffers less from other load, and tells "
        "nothing of waiting",
    )
    add("--strict", action="store_true", help="exit with 3 where a regression can't be excluded")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs")
    form.add_argument("--markdown", action="store_true", help="a table for a page")
    command.set_defaults(command=_compare)


def _add_history(command: argparse.ArgumentParser, runs: Path) -> None:
    command.description = (
        "Follow a number over all runs of one machine, in the order of their commits; those of an older schema than "
        "the newest are left out."
    )
    add = command.add_argument
    add(
        "directories",
        type=Path,
        nargs="*",
        default=[runs],
        metavar="DIR",
        help=f"runs, or directories of runs (default: {runs})",
    )
    add("--metric", choices=history.METRICS, default=history.SPEEDUP, help=f"default: {history.SPEEDUP}")
    add("--against", default="serial", metavar="BACKEND", help="what the speedup is over (default: serial)")
    add("--workload", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    add(
        "--backend", action="append", default=[], metavar="NAME", help="this one; repeatable (default: every reactor's)"
    )
    add("--machine", metavar="TEXT", help="a part of its description (default: the one that ran last)")
    add("--json", action="store_true", help="for programs")
    add("-o", "--output", type=Path, metavar="FILE.svg", help="draw it, as SVG and as PNG beside it")
    command.set_defaults(command=_history)


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
        base, new = finished.load(parsed.base), finished.load(parsed.new)
        changes = comparison.compare(base, new, parsed.min_effect, metrics)
        if parsed.again:
            first_base, first_new = base, new
            base, new = (finished.load(path) for path in parsed.again)
            for before, again in ((first_base, base), (first_new, new)):
                comparison.check_repeated(before, again)
            changes = comparison.confirmed(changes, comparison.compare(base, new, parsed.min_effect, metrics))
    except UsageError as error:
        raise UsageError(f"cannot compare: {error}") from None
    if parsed.json:
        print(json.dumps(compare_report.as_json(base, new, changes, parsed.min_effect), indent=2))
    elif parsed.markdown:
        print(compare_report.as_markdown(base, new, changes, parsed.min_effect))
    else:
        print("\n".join(compare_report.lines(changes, parsed.min_effect)))
    judgements = {one.judgement for one in changes}
    if Judgement.REGRESSION in judgements:
        return 1
    return TOO_UNCERTAIN if parsed.strict and Judgement.UNCERTAIN in judgements else 0


def _history(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    def tell(line: str) -> None:
        print(f"harness: {line}", file=sys.stderr)

    if parsed.output and parsed.output.suffix not in (".svg", ".png"):
        raise UsageError(f"--output {parsed.output}: expected a name that ends in .svg or .png")
    runs = history.of_one_machine(history.collect(parsed.directories, tell), parsed.machine, tell)
    runs = history.of_one_schema(runs, tell)
    found = history.history(runs, parsed.metric, parsed.against, parsed.workload, parsed.backend)
    if parsed.json:
        print(json.dumps(history_report.as_json(found), indent=2))
    else:
        print("\n".join(history_report.lines(found)))
    if parsed.output:
        for path in _draw(found, parsed.output):
            print(f"written: {path}", file=sys.stderr)
    return 0


def _draw(found: history.History, output: Path) -> list[Path]:
    import pandas as pd

    from plots import history as figures
    from plots import style
    from plots.errors import FigureError

    try:
        with style.applied():
            rows = pd.DataFrame(history_report.rows(found))
            figure = figures.over_commits(rows, found.metric, found.curves[0].unit, found.machine)
        return style.save(figure, output.parent, output.stem)
    except FigureError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror}; choose another --output") from None

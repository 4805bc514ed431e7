"""The commands that follow speed over commits: `compare`, `export`, `history`. Owns their arguments and statuses."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import compare_report, comparison, export, finished
from harness.change import Judgement
from harness.errors import UsageError
from harness.export import series
from harness.record import write_atomically

MIN_EFFECT = 0.1

_COMPARE = """\
Compare two runs of one grid by the ratios measured inside each: every reactor backend against serial, against Ray
and against the limit, where that was measured. A regression is larger than --min-effect and its interval excludes
no change.

exit status: 0 no regression; 1 regressions, a line each; 2 cannot compare, and why
"""


def add_commands(subparsers: Any) -> None:
    """Add the commands to the parser's."""
    raw = argparse.RawDescriptionHelpFormatter
    _add_compare(
        subparsers.add_parser(
            "compare", help="what became slower between two runs", description=_COMPARE, formatter_class=raw
        )
    )
    _add_export(subparsers.add_parser("export", help="a run's numbers in another tool's format"))


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
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs")
    form.add_argument("--markdown", action="store_true", help="a table for a page")
    command.set_defaults(command=_compare)


def _add_export(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Write a run's numbers for github-action-benchmark (a file for each direction, FILE.bigger.json and "
        "FILE.smaller.json), for Bencher, or as pytest-benchmark does."
    )
    command.add_argument("directory", type=Path, metavar="DIR", help="the run's directory")
    command.add_argument("--format", choices=list(export.FORMATS), required=True)
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.json", help="where to")
    command.set_defaults(command=_export)


def _effect(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None
    if not 0 <= value <= 10:
        raise argparse.ArgumentTypeError(f"must be from 0 to 10, got {text}")
    return value


def _compare(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    try:
        base, new = finished.load(parsed.base), finished.load(parsed.new)
        changes = comparison.compare(base, new, parsed.min_effect)
        if parsed.again:
            first_base, first_new = base, new
            base, new = (finished.load(path) for path in parsed.again)
            for before, again in ((first_base, base), (first_new, new)):
                comparison.check_repeated(before, again)
            changes = comparison.confirmed(changes, comparison.compare(base, new, parsed.min_effect))
    except UsageError as error:
        raise UsageError(f"cannot compare: {error}") from None
    if parsed.json:
        print(json.dumps(compare_report.as_json(base, new, changes, parsed.min_effect), indent=2))
    elif parsed.markdown:
        print(compare_report.as_markdown(base, new, changes, parsed.min_effect))
    else:
        print("\n".join(compare_report.lines(changes, parsed.min_effect)))
    return 1 if any(one.judgement is Judgement.REGRESSION for one in changes) else 0


def _export(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    measured = series.read(parsed.directory)
    for path, content in export.files(measured, parsed.format, parsed.output).items():
        try:
            write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; choose another --output") from None
        print(path)
    if measured.left_out:
        print(f"harness: failed trials: {measured.left_out}; their backends' numbers are left out", file=sys.stderr)
    return 0

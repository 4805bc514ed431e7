"""The commands of `python -m harness`, and their ends.

The exit status is 0, or 1 if a row failed or something became slower. It is 2 for a mistake that one line names, or if
standard output cannot be written. It is 125 where `compare` has no answer, 130 after Ctrl-C, and 141 if the reader of
standard output left early.
"""

import argparse
import errno
import json
import os
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.markdown import Markdown

from harness.cli import listing
from harness.cli.options import parser
from harness.cli.run_command import console_of_progress, end_on_signals, latest, run
from harness.errors import Terminated, UsageError, interrupted
from harness.report import contributed, readme_claims, run_changes, study_tables, summary, terminal
from harness.report.export import EXPORTS, to_json
from harness.report.markdown import to_markdown
from harness.stats import judgement
from harness.store import run_directory
from harness.studies import claim_run
from harness.studies.advise import advising as advise
from harness.studies.doctor import checkup as doctor
from harness.studies.doctor import probes
from harness.studies.scaling import scaling_run as scaling
from reactorlib.tool import standard_output
from workloads.parameter import ParameterError


@standard_output.ended
def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if sys.platform != "linux":
            raise UsageError(f"Linux is needed, this is {sys.platform}; in Docker: see Dockerfile")
        known = parser(COMMANDS)
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete

            argcomplete.autocomplete(known)
        parsed = known.parse_args(arguments)
        status: int = parsed.command(parsed, arguments)
    except (UsageError, ParameterError) as error:
        print(f"harness: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if standard_output.fault():
            raise
        expected = "" if error.errno == errno.ENOSPC else "; expected what can be read and written there"
        named = f"{error.filename}: {error.strerror}{expected}" if error.filename else error.strerror or str(error)
        print(f"harness: {named}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, Terminated) as error:
        return interrupted(error)
    return status


def _list(_: argparse.Namespace, __: Sequence[str]) -> int:
    print(listing.as_text(shutil.get_terminal_size((110, 24)).columns))
    return 0


def _doctor(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    return doctor.run(parsed.only or [*probes.NEEDED, *probes.EXTRA], parsed.json, terminal.output())


def _directory(parsed: argparse.Namespace) -> Path:
    path: Path = parsed.directory or latest()
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory; expected the results of `harness run`")
    return path


def _advise(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    end_on_signals()
    return advise.run(parsed, console_of_progress())


def _claim(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    found, cores = claim_run.known()
    if not parsed.names:
        terminal.print_grid(readme_claims.table(found), terminal.output())
        return 0
    chosen, status = claim_run.chosen(found, parsed.names), 0
    end_on_signals()
    for claim in chosen:
        passed, sentence = claim_run.run(claim, cores, parsed.starts, console_of_progress().print)
        print(sentence, flush=True)
        status = status if passed else 1
    return status


def _scaling(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    path = _directory(parsed)
    run_id, grid = run_directory.stored_grid(path)
    end_on_signals()
    points, tell = grid.points_of(parsed.point), console_of_progress().print
    rows, costs = scaling.run(scaling.Study(path, run_id, grid, points, parsed.trials, parsed.rounds, tell))
    output = terminal.output()
    terminal.print_grid(study_tables.scaling_table(rows), output)
    output.print()
    for line in (*study_tables.message_costs(costs), study_tables.SCALING_EXPLAINED):
        output.print(line, style="dim")
    return 1 if any(row.is_failure for row in rows) else 0


def _contributed(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    found, points, drawn = terminal.show_contributed(parsed.directory, terminal.output())
    from harness.report import readme  # imports matplotlib

    for page in parsed.readme:
        readme.fill(page, {contributed.PART: partial(readme.contributions, found, points, drawn, page.parent)})
    return 0


def _compare(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    try:
        base, new = run_changes.load(parsed.base), run_changes.load(parsed.new)
        found = run_changes.compare(base, new, parsed.min_effect)
    except UsageError as error:
        raise UsageError(f"cannot compare: {error}") from None
    if parsed.json:
        print(json.dumps(run_changes.as_json(base, new, found, parsed.min_effect), indent=2))
    else:
        print("\n".join(run_changes.lines(base, new, found, parsed.min_effect)))
    return judgement.exit_status([one.judgement for one in found], parsed.allow)


def _report(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    export = to_json if parsed.json else EXPORTS.get(parsed.export)
    if export is not None and (parsed.readme or parsed.all_backends):
        raise UsageError("--json and --export write no pages or figures; leave out --readme and --all-backends")
    summarised = summary.summarise(_directory(parsed))
    if export is not None:
        print(json.dumps(export(summarised), indent=2))
        return 0
    from harness.report import page, readme  # import matplotlib
    from harness.report.figures import figure_catalogue

    written, unwritten = None, None
    try:
        drawn = figure_catalogue.draw(summarised, everything=parsed.all_backends)
        written = page.write(summarised, drawn)
        for filled in parsed.readme:
            readme.update(filled, summarised, drawn)
    except OSError as error:  # of results that can only be read: the answer is shown first
        unwritten = error
    console = terminal.output()
    if parsed.full:
        console.print(Markdown(to_markdown(summarised)))
        console.print("\n")
    terminal.show_answer(summarised, written, console)
    if unwritten is not None:
        raise unwritten
    return 0


COMMANDS = {
    "list": _list,
    "doctor": _doctor,
    "advise": _advise,
    "claim": _claim,
    "run": run,
    "scaling": _scaling,
    "report": _report,
    "contributed": _contributed,
    "compare": _compare,
}

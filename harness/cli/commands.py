"""The commands of `python -m harness`, and their ends.

The exit status is 0, 1 if a row failed or something became slower, 2 for a mistake that one line names, and 130 after
Ctrl-C.
"""

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from harness.cli import listing
from harness.cli.options import parser, setting
from harness.cli.run_command import console_of_progress, end_on_signals, latest, run
from harness.errors import Terminated, UsageError
from harness.measure import block
from harness.plan.metrics import MAIN_METRICS
from harness.report import own_claims, run_changes, run_changes_text, study_tables, summary, terminal
from harness.report.export import EXPORTS, to_json
from harness.stats.judgement import Judgement
from harness.store import finished_run, run_directory
from harness.studies import claim_run
from harness.studies.advise import advising as advise
from harness.studies.breakdown import breakdown_run
from harness.studies.doctor import checkup as doctor
from harness.studies.doctor import probes
from harness.studies.scaling import scaling_run as scaling

# Columns of tables where there is no terminal.
_WIDTH_ELSEWHERE = 180
_TOO_UNCERTAIN = 3  # exit status of `compare --strict`


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
        sys.stdout.flush()
    except UsageError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output has left. Without this the interpreter complains when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        expected = "expected what can be read and written there"
        named = f"{error.filename}: {error.strerror}; {expected}" if error.filename else error.strerror or str(error)
        print(f"harness: {named}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Terminated as ended:
        return 128 + ended.signal_number
    return status


def _output(markup: bool = True) -> Console:
    """The console for results."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH_ELSEWHERE, highlight=False, markup=markup)


def _list(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    if parsed.json:
        print(json.dumps(listing.as_json(), indent=2))
    else:
        print(listing.as_text(shutil.get_terminal_size((110, 24)).columns))
    return 0


def _doctor(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    return doctor.run(parsed.only or [*probes.NEEDED, *probes.EXTRA], parsed.json, _output(markup=False))


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
        terminal.print_grid(own_claims.table(found), _output())
        return 0
    chosen, outcomes = claim_run.chosen(found, parsed.names), []
    end_on_signals()
    for claim in chosen:
        outcomes.append(claim_run.run(claim, cores, parsed.starts, console_of_progress().print))
        print(outcomes[-1], flush=True)
    return 1 if any(": FAIL" in one for one in outcomes) else 0


def _breakdown(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    path = _directory(parsed)
    run_id, measured = run_directory.stored_grid(path)
    end_on_signals()
    rows = breakdown_run.run(
        path,
        run_id,
        measured.points_of(parsed.workload),
        breakdown_run.backends(measured, parsed.backend),
        trials=parsed.trials,
        most_rounds=parsed.rounds,
        time_limit_s=measured.time_limit_s,
        tell=console_of_progress().print,
    )
    output = _output()
    for table in study_tables.phase_tables(rows):
        terminal.print_grid(table, output)
        output.print()
    output.print(study_tables.PHASES_EXPLAINED, style="dim")
    return 1 if any(row.is_failure for row in rows) else 0


def _scaling(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    path = _directory(parsed)
    run_id, measured = run_directory.stored_grid(path)
    end_on_signals()
    rows, costs = scaling.run(
        path,
        run_id,
        scaling.points(measured, parsed.workload, [setting(text) for text in parsed.settings]),
        trials=parsed.trials,
        most_rounds=parsed.rounds,
        effort=replace(block.EFFORT, limit_s=measured.time_limit_s),
        tell=console_of_progress().print,
    )
    output = _output()
    terminal.print_grid(study_tables.scaling_table(rows), output)
    output.print()
    for line in study_tables.message_costs(costs):
        output.print(line)
    output.print(f"\n{study_tables.SCALING_EXPLAINED}", style="dim")
    return 1 if any(row.is_failure for row in rows) else 0


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
    return _TOO_UNCERTAIN if parsed.strict and Judgement.UNCERTAIN in judgements else 0


def _report(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    summarised = summary.summarise(_directory(parsed))
    if parsed.json:
        print(json.dumps(to_json(summarised), indent=2))
        return 0
    if parsed.export:
        print(json.dumps(EXPORTS[parsed.export](summarised), indent=2))
        return 0
    from harness.report import markdown, page, readme  # import matplotlib
    from harness.report.figures import figure_catalogue

    drawn = figure_catalogue.draw(summarised, everything=parsed.all_backends)
    markdown.write_markdown(summarised)
    written = page.write(summarised, drawn)
    for filled in parsed.readme:
        readme.update(filled, summarised, drawn)
    console = _output()
    if parsed.full:
        terminal.show_all(summarised, console)
        console.print()
    terminal.show_answer(summarised, written, console)
    return 0


COMMANDS = {
    "list": _list,
    "doctor": _doctor,
    "advise": _advise,
    "claim": _claim,
    "run": run,
    "breakdown": _breakdown,
    "scaling": _scaling,
    "report": _report,
    "compare": _compare,
}

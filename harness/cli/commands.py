"""The command line: `python -m harness list | doctor | advise | run | breakdown | scaling | report | ...`.

Owns exit statuses and a command's end.

Exit status: 0; 1 when a row failed or something became slower; 2 for something the user can put right, said in one
line; 130 after Ctrl-C.
"""

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from harness import quantity
from harness.cli import listing
from harness.cli.options import DEFAULT_PRESET, LATEST, RUNS, parser, setting
from harness.errors import Terminated, UsageError
from harness.grouping import grouped
from harness.measure import block, forecast, progress, runner
from harness.measure.subject import WORKER_VARIABLES
from harness.plan.grid import Grid, Trial
from harness.plan.selection import Selection, select
from harness.quantity import counted
from harness.report import document, phases_text, summary, terminal
from harness.report.as_json import to_json
from harness.report.export import EXPORTS
from harness.report.scaling_text import EXPLAINED, told_costs
from harness.store import machine, run_directory
from harness.store.run_directory import RunDirectory
from harness.studies.advise import advising as advise
from harness.studies.breakdown import breakdown_run
from harness.studies.doctor import checkup as doctor
from harness.studies.doctor import probes
from harness.studies.nodes import nodes_run as nodes
from harness.studies.scaling import scaling_run as scaling

# Tables are not squeezed into 80 columns when nobody said how many there are.
_WIDTH_ELSEWHERE = 180
_SHOWN_FAILURES = 20
_AGAIN = "{} failed before, to run again"


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
        # Whoever read our output has left. Without this the interpreter complains when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        print(f"harness: {_reason(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Terminated as ended:
        return 128 + ended.signal_number
    return status


def _reason(error: OSError) -> str:
    if error.filename is None:
        return error.strerror or str(error)
    return f"{error.filename}: {error.strerror}; expected what can be read and written there"


def _progress() -> Console:
    """Where a command says how it goes on."""
    return Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def _output(markup: bool = True) -> Console:
    """Where a command says what came out."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH_ELSEWHERE, highlight=False, markup=markup)


def _list(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    if parsed.json:
        print(json.dumps(listing.as_json(), indent=2))
    else:
        print(listing.as_text(shutil.get_terminal_size((110, 24)).columns))
    return 0


def _doctor(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    return doctor.run(parsed.only or [*probes.NEEDED, *probes.EXTRA], parsed.json, _output(markup=False))


def _run(parsed: argparse.Namespace, arguments: Sequence[str]) -> int:
    selection = _select(parsed)
    console = _progress()
    for note in selection.notes:
        console.print(note)
    if parsed.dry_run:
        _plan(parsed, selection.grid, console)
        return 0
    _end_on_signals()
    with _open(parsed, arguments, selection.grid) as opened:
        if parsed.output is None:
            _point_latest(opened.path, console)
        again = runner.forget_failures(opened)
        todo = opened.missing()
        done, budget_s = opened.grid.size - len(todo), _budget_s(parsed, opened.grid)
        expected = forecast.here(opened.grid, RUNS)
        count, together = _expected(expected, todo, budget_s)
        console.print(f"{count} trials into {opened.path}, {together}")
        if again:
            console.print(_AGAIN.format(counted(again, "trial")))
        try:
            budget = forecast.Budget(budget_s)
            with progress.Display(console, todo, done, expected, budget) as display:
                runner.run(opened, display, parsed.time_limit, budget)
        except (KeyboardInterrupt, Terminated):
            left, _ = _expected(expected, opened.missing(), budget_s)
            command = f"python -m harness run --output {opened.path} --resume"
            console.print(f"interrupted with {left} trials left; to complete them: {command}")
            raise
        return _conclude(opened, parsed.json, console)


def _budget_s(parsed: argparse.Namespace, grid: Grid) -> float | None:
    """What was asked for; else the grid's, where no number of trials was."""
    budget_s: float | None = parsed.budget or (None if parsed.trials else grid.budget_s)
    return budget_s


def _end_on_signals() -> None:
    """Have Ctrl-C and requests to end stop the run in an orderly way, even where a shell had them ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)


def _terminate(number: int, _: object) -> NoReturn:
    raise Terminated(number)


def _plan(parsed: argparse.Namespace, chosen: Grid, console: Console) -> None:
    """Say what would run: the grid asked for, or what an interrupted run lacks of its own."""
    again = 0
    if parsed.resume:
        found = run_directory.inspect(_resumed(parsed), *_asked(parsed, chosen))
        kept = runner.without_failures(found.trials)
        chosen, again = found.grid, len(found.trials) - len(kept)
        todo = run_directory.to_run(chosen, kept)
    else:
        todo = list(chosen.trials())
    _print_plan(chosen, todo, parsed.time_limit or chosen.time_limit_s, _budget_s(parsed, chosen))
    if again:
        console.print(_AGAIN.format(counted(again, "trial")))


def _print_plan(chosen: Grid, todo: Sequence[Trial], time_limit_s: float, budget_s: float | None) -> None:
    for point, trials in grouped(todo, lambda trial: trial.point).items():
        names = [trial.backend for trial in trials]
        ordered = [name for name in chosen.backends if name in names]
        print(f"{point.workload} {point.parameters}: {_counted(ordered, names)}")
    count, together = _expected(forecast.here(chosen, RUNS), todo, budget_s)
    end = f", as far as {quantity.duration_s(budget_s)} allow" if budget_s else ""
    print(f"{count} trials{end}, each at most {quantity.duration_s(time_limit_s)}; {together}")


def _expected(durations: forecast.Forecast, todo: Sequence[Trial], budget_s: float | None) -> tuple[str, str]:
    """How many trials there will be, fewer than these where the budget ends them, and how long they take, in words."""
    count, seconds = durations.within(todo, forecast.Budget(budget_s))
    most = f"about {count} of at most " if count < len(todo) else ""
    return f"{most}{len(todo)}", f"together about {quantity.duration_s(seconds)} ({durations.source})"


def _counted(ordered: Iterable[str], names: Sequence[str]) -> str:
    """How many trials of which backends, those with as many together."""
    by_count = grouped(ordered, names.count)
    return "; ".join(f"{count} trials of {', '.join(same)}" for count, same in by_count.items())


def _conclude(opened: RunDirectory, as_json: bool, console: Console) -> int:
    """Say what came out; the exit status."""
    failed = {row.trial_key: row for row in opened.rows if row.is_failure}
    if as_json:
        outcome = {
            "output": str(opened.path),
            "run_id": opened.run_id,
            "rows": len(opened.rows),
            "failed": [
                {"workload": row.workload, "parameters": json.loads(row.parameters), "backend": row.backend}
                | {"trial": row.trial, "status": row.status}
                for row in failed.values()
            ],
        }
        print(json.dumps(outcome, indent=2))
    if failed:
        console.print(f"{counted(len(failed), 'trial')} FAILED; what was printed: {opened.logs}")
        for row in list(failed.values())[:_SHOWN_FAILURES]:
            where = f"{row.workload} {row.scenario} {row.backend} trial {row.trial}"
            console.print(f"  {where}: {row.status}")
    console.print(f"done; next: python -m harness report {opened.path}")
    return 1 if failed else 0


def _select(parsed: argparse.Namespace) -> Selection:
    return select(
        parsed.preset or DEFAULT_PRESET,
        workloads=parsed.workload,
        backends=parsed.backend,
        settings=[setting(text) for text in parsed.settings],
        trials=parsed.trials,
        seed=parsed.seed,
        time_limit_s=parsed.time_limit,
        budget_s=parsed.budget,
    )


def _open(parsed: argparse.Namespace, arguments: Sequence[str], chosen: Grid) -> AbstractContextManager[RunDirectory]:
    session = machine.describe_session(["python", "-m", "harness", *arguments], WORKER_VARIABLES)
    preset = parsed.preset or DEFAULT_PRESET
    run_id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{preset}"
    if parsed.resume:
        return run_directory.reopen(_resumed(parsed), *_asked(parsed, chosen), session)
    return run_directory.create(parsed.output or RUNS / run_id, run_id, chosen, session)


def _resumed(parsed: argparse.Namespace) -> Path:
    """The directory of the run to complete."""
    path: Path = parsed.output or _latest()
    if not run_directory.holds_run(path):
        raise UsageError(f"{path}: holds no run that could be resumed; leave out --resume to begin one there")
    return path


def _asked(parsed: argparse.Namespace, chosen: Grid) -> tuple[Grid | None, int | None]:
    """The grid that a run to complete must have, None where the command line names none, and means whatever it has; and
    how many trials it shall have then, if that is said. A command that began a run with a budget meant as many as that
    allowed.
    """
    asked = parsed.preset, parsed.workload, parsed.backend, parsed.settings, parsed.seed
    if all(value in (None, []) for value in asked):
        return None, parsed.trials
    return chosen, None if parsed.budget else parsed.trials


def _latest() -> Path:
    if not LATEST.exists():
        raise UsageError(f"{LATEST}: no such run yet; name a directory, or begin with `harness run`")
    return LATEST.resolve()


def _point_latest(path: Path, console: Console) -> None:
    """Let `results/latest` point to the run, or say that something else than such a pointer is there."""
    if LATEST.exists() and not LATEST.is_symlink():
        console.print(f"{LATEST} is no symbolic link and stays as it is: it is not this run, which is {path}")
        return
    replacement = LATEST.with_name(f".latest-{os.getpid()}")
    replacement.symlink_to(os.path.relpath(path, LATEST.parent))
    replacement.replace(LATEST)


def _directory(parsed: argparse.Namespace) -> Path:
    path: Path = parsed.directory or _latest()
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory; expected the results of `harness run`")
    return path


def _advise(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    _end_on_signals()
    return advise.run(parsed, _progress())


def _breakdown(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    path = _directory(parsed)
    run_id, measured = run_directory.stored_grid(path)
    _end_on_signals()
    rows = breakdown_run.run(
        path,
        run_id,
        measured.points_of(parsed.workload),
        breakdown_run.backends(measured, parsed.backend),
        trials=parsed.trials,
        most_rounds=parsed.rounds,
        time_limit_s=parsed.time_limit or measured.time_limit_s,
        tell=_progress().print,
    )
    output = _output()
    for table in phases_text.tables(rows):
        output.print(table)
        output.print()
    output.print(phases_text.EXPLAINED, style="dim")
    return 1 if any(row.is_failure for row in rows) else 0


def _scaling(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    path = _directory(parsed)
    run_id, measured = run_directory.stored_grid(path)
    _end_on_signals()
    rows, costs = scaling.run(
        path,
        run_id,
        scaling.points(measured, parsed.workload, [setting(text) for text in parsed.settings]),
        trials=parsed.trials,
        most_rounds=parsed.rounds,
        effort=replace(block.EFFORT, limit_s=parsed.time_limit or measured.time_limit_s),
        tell=_progress().print,
    )
    output = _output()
    terminal.print_grid(document.scaling_table(rows), output)
    output.print()
    for line in told_costs(costs):
        output.print(line)
    output.print(f"\n{EXPLAINED}", style="dim")
    return 1 if any(row.is_failure for row in rows) else 0


def _report(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    summarised = summary.summarise(_directory(parsed))
    if parsed.json:
        print(json.dumps(to_json(summarised), indent=2))
        return 0
    if parsed.export:
        print(json.dumps(EXPORTS[parsed.export](summarised), indent=2))
        return 0
    from harness.report import markdown, page, readme  # import matplotlib

    drawn = _drawn(summarised, tell=parsed.full, all_backends=parsed.all_backends)
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


def _drawn(summarised: summary.Summary, *, tell: bool, all_backends: bool) -> list[Path]:
    """The figures of a run, drawn anew; none where there is nothing to draw. `tell`: name those left out, and why."""
    from harness.report.figure_material import material
    from plots import figures
    from plots.errors import FigureError

    try:
        output = summarised.path / "figures"
        skipped: list[str] = []
        drawn = figures.draw(material(summarised, all_backends=all_backends), output, tell=skipped.append)
        for line in skipped if tell else ():
            print(line, file=sys.stderr)
        return drawn
    except FigureError as error:
        print(error, file=sys.stderr)
        return []


COMMANDS = {
    "list": _list,
    "doctor": _doctor,
    "advise": _advise,
    "run": _run,
    "breakdown": _breakdown,
    "scaling": _scaling,
    "nodes": nodes.run,
    "report": _report,
}

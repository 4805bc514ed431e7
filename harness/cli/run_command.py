"""The command `run`: its plan, its progress and its end."""

import argparse
import contextlib
import errno
import itertools
import math
import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from harness import quantity
from harness.cli.options import DEFAULT_PRESET, LATEST, RUNS, setting
from harness.errors import Terminated, UsageError
from harness.grouping import grouped
from harness.measure import forecast, progress, runner
from harness.measure.core_limit import limited_to
from harness.measure.measured_processes import WORKER_VARIABLES
from harness.plan import needs
from harness.plan.grid import Grid, Trial
from harness.plan.selection import select
from harness.report import contributed, terminal
from harness.report.summary import summarise
from harness.store import machine, run_directory
from harness.store.run_directory import RunDirectory
from harness.studies import prediction_run
from workloads.catalogue import FREE_THREADED

_SHOWN_FAILURES = 20
_PART = "cores-"  # begins the name of a directory of a run on several numbers of cores
_NOTHING_TO_RESUME = "{}: holds no run that could be resumed; leave out --resume to begin one there"


def console_of_progress() -> Console:
    """The console on which a command shows how it goes on."""
    return Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def run(parsed: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run what the options ask for; the exit status."""
    with limited_to(max(parsed.cores, default=None)):
        selection = select(
            parsed.preset or DEFAULT_PRESET,
            points=parsed.point,
            workloads=parsed.workload,
            backends=parsed.backend,
            settings=[setting(text) for text in parsed.settings],
            trials=parsed.trials,
            seed=parsed.seed,
            time_limit_s=parsed.time_limit,
            budget_s=parsed.budget,
            free_threaded=parsed.free_threaded is not None,
        )
        unable = list(needs.notes(selection.grid))
    console = console_of_progress()
    for note in (*selection.notes, *unable):
        console.print(note)
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{parsed.preset or DEFAULT_PRESET}"
    if parsed.dry_run:
        _plan(parsed, selection.grid, name)
        return 0
    end_on_signals()
    if parsed.cores:
        return _curve(parsed, arguments, selection.grid, name, console)
    with _open(parsed, arguments, selection.grid, name) as opened:
        if parsed.output is None:
            _point_latest(opened.path, console)
        resume = terminal.command("run", "--output", opened.path, "--resume")
        return _measure(opened, parsed.time_limit, _budget_s(parsed, opened.grid), resume, console)


def _curve(parsed: argparse.Namespace, arguments: Sequence[str], chosen: Grid, name: str, console: Console) -> int:
    """Run one grid on each of these numbers of cores, each in a directory of its own, and draw the speed-up by cores.

    The files to contribute are in the directory above. The budget is shared out evenly.
    """
    directory, grid, parts = _parts(parsed, chosen, name)
    directory.mkdir(parents=True, exist_ok=True)
    if parsed.output is None:
        _point_latest(directory, console)
    resume = terminal.command(*(word for word in arguments if word != "--resume"), "--resume")
    budget_s, began, status = _budget_s(parsed, grid), time.monotonic(), 0
    try:
        for done, (count, part) in enumerate(parts.items()):
            left_s = budget_s and max(0.0, budget_s - (time.monotonic() - began)) / (len(parts) - done)
            with limited_to(count), _open(part, arguments, grid, f"{name}-{count}") as opened:
                console.print(f"on {quantity.counted(count, 'core')}:")
                status |= _measure(opened, parsed.time_limit, left_s, resume, console, directory)
    except (KeyboardInterrupt, Terminated):
        with contextlib.suppress(UsageError):  # of a file that is not ours
            terminal.show_contributed(directory, terminal.output())
        raise
    terminal.show_contributed(directory, terminal.output())
    return status


def _parts(parsed: argparse.Namespace, chosen: Grid, name: str) -> tuple[Path, Grid, dict[int, argparse.Namespace]]:
    """The directory of a run on several numbers of cores, the grid on each of them, and the options by number.

    If the command line leaves open what to measure, parts that have not begun get the grid of one that has. Raises
    UsageError where a part has begun and is not to be resumed, and where none has that could be.
    """
    directory = parsed.output or (latest() if parsed.resume else RUNS / name)
    begun = [own for own in sorted(directory.glob(f"{_PART}*")) if run_directory.holds_run(own)]
    if parsed.resume and not begun:
        raise UsageError(_NOTHING_TO_RESUME.format(directory))
    grid = chosen
    if parsed.resume and _is_open(parsed):
        stored = [run_directory.stored_grid(own)[1] for own in begun]
        grid = stored[0].with_trials(parsed.trials or max(point.trials for one in stored for point in one.points))
    parts = {}
    for count in parsed.cores:
        own = directory / f"{_PART}{count}"
        if own in begun and not parsed.resume:
            raise UsageError(f"{own}: holds a run; complete it with --resume, or choose another --output")
        parts[count] = argparse.Namespace(**vars(parsed) | {"output": own, "resume": own in begun})
    return directory, replace(grid, predicts=True), parts


def _measure(
    opened: RunDirectory,
    time_limit_s: float | None,
    budget_s: float | None,
    resume: str,
    console: Console,
    contributions: Path | None = None,
) -> int:
    """Run what a directory lacks; the exit status. An interruption keeps what is done, also as a contribution.

    `resume`: the command that completes it. `contributions`: see `_contribute`.
    """
    todo = opened.missing()
    expected = forecast.here(opened.grid, RUNS)
    console.print(f"{_expected(todo, budget_s)} into {opened.path}, {_together(expected, todo, budget_s)}")
    try:
        budget_s = _predict(opened, time_limit_s, budget_s, console)
        with progress.Display(console, todo, expected, budget_s) as display:
            runner.run(opened, display, time_limit_s, runner.Budget(budget_s))
    except (KeyboardInterrupt, Terminated, OSError) as error:
        if isinstance(error, OSError):
            if error.errno != errno.ENOSPC:
                raise
            full = f"{opened.path}: {error.strerror}; what was measured before is kept"
            raise UsageError(f"{full}; once there is room, complete the run: {resume}") from None
        _contribute(opened, console, contributions)
        error.add_note(f"with {_expected(opened.missing(), budget_s)} left; to complete them: {resume}")
        raise
    return _conclude(opened, console, contributions)


def _predict(opened: RunDirectory, limit_s: float | None, budget_s: float | None, console: Console) -> float | None:
    """Predict what the grid wants predicted, unless something is measured already; the budget that is left."""
    if not opened.grid.predicts or opened.trials:
        return budget_s
    began = time.monotonic()
    prediction_run.predict(opened.path, opened.run_id, opened.grid, limit_s or opened.grid.time_limit_s, console.print)
    return budget_s and max(0.0, budget_s - (time.monotonic() - began))


def _budget_s(parsed: argparse.Namespace, grid: Grid) -> float | None:
    """The budget asked for, or the grid's unless a number of trials was asked for."""
    return parsed.budget or (None if parsed.trials else grid.budget_s)


def _expected(todo: Sequence[Trial], budget_s: float | None) -> str:
    return f"{'at most ' if budget_s is not None and todo else ''}{quantity.counted(len(todo), 'trial')}"


def _together(durations: forecast.Forecast, todo: Sequence[Trial], budget_s: float | None) -> str:
    seconds = min(durations.seconds(todo), math.inf if budget_s is None else budget_s)
    return f"together about {quantity.duration_s(seconds)} ({durations.source})"


def end_on_signals() -> None:
    """Have Ctrl-C and requests to end stop the run in an orderly way, even where a shell had Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup has it: the run outlives its terminal
        signal.signal(signal.SIGHUP, _terminate)


def _terminate(number: int, _: object) -> NoReturn:
    raise Terminated(number)


def _plan(parsed: argparse.Namespace, chosen: Grid, name: str) -> None:
    """Print what would run: the grid asked for, or what an interrupted run lacks, on each number of cores."""
    parts: Iterable[tuple[int | None, argparse.Namespace]] = [(None, parsed)]
    if parsed.cores:
        _, chosen, by_cores = _parts(parsed, chosen, name)
        parts = by_cores.items()
    todo, grid = list[Trial](), chosen
    for count, part in parts:
        lacking = list(chosen.trials())
        if part.resume:
            with limited_to(count):
                found = run_directory.inspect(*_to_resume(part, chosen))
            grid, lacking = found.grid, found.missing()
        if count is not None:
            print(f"on {quantity.counted(count, 'core')}: {quantity.counted(len(lacking), 'trial')}")
        _print_points(lacking, grid)
        todo += lacking
    budget_s, limit = _budget_s(parsed, grid), quantity.duration_s(parsed.time_limit or grid.time_limit_s)
    together = _together(forecast.here(grid, RUNS), todo, budget_s)
    print(f"{_expected(todo, budget_s)}, at most {limit} for each thing that a trial is asked; {together}")


def _print_points(todo: Sequence[Trial], grid: Grid) -> None:
    """Print a line for each point: how many trials of which backends there are."""
    for point, trials in grouped(todo, lambda trial: trial.point).items():
        lacking = [trial.backend for trial in trials]
        same = grouped((name for name in grid.backends if name in lacking), lacking.count)
        told = "; ".join(f"{quantity.counted(count, 'trial')} of {', '.join(names)}" for count, names in same.items())
        print(f"{point.name}: {told}")


def _conclude(opened: RunDirectory, console: Console, contributions: Path | None) -> int:
    """Print what came out, and write what can be contributed; the exit status."""
    failed = {trial.trial_key: trial for trial in opened.trials if trial.is_failure}
    if failed:
        console.print(f"{quantity.counted(len(failed), 'trial')} FAILED; what was printed: {opened.logs}")
        shown = (trial for trial in opened.grid.trials() if trial.key in failed)
        for trial in itertools.islice(shown, _SHOWN_FAILURES):
            console.print(f"  {trial.key}: {failed[trial.key].status}")
    console.print(f"done; next: {terminal.command('report', opened.path)}")
    _contribute(opened, console, contributions)
    return 1 if failed else 0


def _contribute(opened: RunDirectory, console: Console, directory: Path | None) -> None:
    """Write the file to contribute, into this directory or the run's own, where the grid has predictions."""
    if opened.grid.predicts:
        try:
            console.print(f"to contribute: {contributed.write(summarise(opened.path), directory)}")
        except UsageError as error:
            console.print(f"nothing to contribute: {error}")


def _open(
    parsed: argparse.Namespace, arguments: Sequence[str], chosen: Grid, run_id: str
) -> AbstractContextManager[RunDirectory]:
    session = machine.describe_session(["python", "-m", "harness", *arguments], WORKER_VARIABLES)
    if parsed.resume:
        return run_directory.reopen(*_to_resume(parsed, chosen), session)
    interpreters = {FREE_THREADED: parsed.free_threaded}
    return run_directory.create(parsed.output or RUNS / run_id, run_id, chosen, session, interpreters)


def _to_resume(parsed: argparse.Namespace, chosen: Grid) -> tuple[Path, Grid | None, int | None, run_directory.Given]:
    """The directory of a run to complete, the grid that it must have, its number of trials, and interpreters.

    None for what the command line leaves open. With a budget, the number is only the most.
    """
    path: Path = parsed.output or latest()
    if not run_directory.holds_run(path):
        raise UsageError(_NOTHING_TO_RESUME.format(path))
    is_open = _is_open(parsed)
    trials = None if parsed.budget and not is_open else parsed.trials
    return path, None if is_open else chosen, trials, {FREE_THREADED: parsed.free_threaded}


def _is_open(parsed: argparse.Namespace) -> bool:
    """Whether the command line leaves open what to measure."""
    asked = parsed.preset, parsed.point, parsed.workload, parsed.backend, parsed.settings, parsed.seed
    return all(value in (None, []) for value in asked)


def latest() -> Path:
    """The directory of the newest run without --output."""
    if not LATEST.exists():
        raise UsageError(f"{LATEST}: no such run yet; name a directory, or begin with `harness run`")
    return LATEST.resolve()


def _point_latest(path: Path, console: Console) -> None:
    """Let `results/latest` point to the run, unless something else is there."""
    if LATEST.exists() and not LATEST.is_symlink():
        console.print(f"{LATEST} is no symbolic link and stays as it is: it is not this run, which is {path}")
        return
    replacement = LATEST.with_name(f".latest-{os.getpid()}")
    replacement.symlink_to(os.path.relpath(path, LATEST.parent))
    replacement.replace(LATEST)

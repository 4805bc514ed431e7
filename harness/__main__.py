"""The command line: `python -m harness list | run | plot | report`. Owns exit statuses and a command's end.

Exit status: 0; 1 when a row failed; 2 for something the user can put right, said in one line; 130 after
Ctrl-C.
"""

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from harness import listing, machine, manager, progress, quantity, report, results, summary
from harness.errors import Terminated, UsageError
from harness.grid import Grid, backends_of
from harness.presets import PRESETS
from harness.results import Results
from harness.selection import Selection, Setting, select

_RUNS = Path("results/runs")
_LATEST = Path("results/latest")
_DEFAULT_PRESET = "quick"
# Tables are not squeezed into 80 columns when nobody said how many there are.
_WIDTH_ELSEWHERE = 180
_SHOWN_FAILURES = 20

_EXAMPLES = """\
examples:
  python -m harness list
  python -m harness run --preset smoke
  python -m harness run --workload gym_sampling --set env=Acrobot-v1 --set actors=3,7 --output acrobot
  python -m harness run --output acrobot --resume
  python -m harness plot acrobot
  python -m harness report acrobot
"""
_RUN_EXAMPLES = """\
examples:
  python -m harness run
      the preset quick on every backend, into results/runs/<time>-quick
  python -m harness run --preset paper --workload atari_sampling
      one workload with the paper's parameters
  python -m harness run --workload broadcast_gather --set object_bytes=10kB,1MiB,100MB --set work_seconds=0
      any parameter, any values; the points are the product of all values
  python -m harness run --set q_learning.actors=2,4 --set gym_sampling.env=Blackjack-v1
      a parameter of one workload only
  python -m harness run --resume
      completes the newest run under results/runs

exit status: 0 all rows ok; 1 a row failed; 2 bad input; 130 interrupted (then --resume completes the run)
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and nothing else."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        parsed = _parser().parse_args(arguments)
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
        print(f"harness: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Terminated as ended:
        return 128 + ended.signal_number
    return status


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="harness",
        description="Compare the reactor runtime with Ray and with a serial loop, on this machine.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = commands.add_parser("list", help="what there is to run: workloads, parameters, backends, presets")
    command.add_argument("--json", action="store_true", help="for programs")
    command.set_defaults(command=_list)
    _add_run(commands.add_parser("run", help="measure", epilog=_RUN_EXAMPLES, formatter_class=raw))
    command = commands.add_parser("plot", help="draw every figure that a run has rows for")
    _add_directory(command)
    command.add_argument("--output", type=Path, metavar="DIR", help="where to (default: figures/ in the run's)")
    command.set_defaults(command=_plot)
    command = commands.add_parser("report", help="compare the backends of a run, with intervals and doubts")
    _add_directory(command)
    command.add_argument("--json", action="store_true", help="for programs; writes no report.md")
    command.set_defaults(command=_report)
    return parser


def _add_directory(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help=f"the run's directory (default: {_LATEST})"
    )


def _add_run(command: argparse.ArgumentParser) -> None:
    command.description = "Run every point on every backend, each trial in a process of its own."
    add = command.add_argument
    add("--preset", metavar="NAME", help=f"{' | '.join(PRESETS)} (default: {_DEFAULT_PRESET})")
    add("--workload", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    add("--backend", action="append", default=[], metavar="NAME", help="only this one; repeatable")
    add(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="[WORKLOAD.]NAME=VALUE,...",
        help="values of a parameter, instead of the preset's; repeatable",
    )
    add("--trials", type=_at_least(int, 1), metavar="N", help="repetitions of every point on every backend")
    add("--seed", type=_at_least(int, 0), metavar="N", help="of the order and of every workload (default: 0)")
    add("--output", type=Path, metavar="DIR", help=f"default: {_RUNS}/<time>-<preset>, also as {_LATEST}")
    add("--resume", action="store_true", help="run only what an interrupted run still lacks")
    add(
        "--time-limit",
        type=_at_least(float, 0.1),
        metavar="SECONDS",
        help="for one trial (default: the preset's)",
    )
    add("--dry-run", action="store_true", help="print what would run, and run nothing")
    add("--json", action="store_true", help="print what came out as JSON")
    command.set_defaults(command=_run)


def _at_least(kind: type[int] | type[float], minimum: float) -> Any:
    words = "an integer" if kind is int else "a number"

    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {words}, got {text!r}") from None
        if not minimum <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"must be at least {minimum:g}, got {text}")
        return value

    return parse


def _list(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    if parsed.json:
        print(json.dumps(listing.as_json(), indent=2))
    else:
        print(listing.as_text(shutil.get_terminal_size((110, 24)).columns))
    return 0


def _run(parsed: argparse.Namespace, arguments: Sequence[str]) -> int:
    selection = _select(parsed)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for note in selection.notes:
        console.print(note, markup=False)
    if parsed.dry_run:
        _print_plan(selection.grid)
        return 0
    _end_on_signals()
    with _open(parsed, arguments, selection.grid) as opened:
        if parsed.output is None:
            _point_latest(opened.path)
        todo = manager.missing(opened)
        done = sum(1 for _ in opened.grid.trials()) - len(todo)
        console.print(f"{len(todo)} trials into {opened.path}")
        try:
            with progress.Display(console, todo, done) as display:
                manager.run(opened, display, parsed.time_limit)
        except (KeyboardInterrupt, Terminated):
            left = len(manager.missing(opened))
            command = f"python -m harness run --output {opened.path} --resume"
            console.print(f"interrupted with {left} trials left; to complete them: {command}")
            raise
        return _conclude(opened, parsed.json, console)


def _end_on_signals() -> None:
    """Have Ctrl-C and requests to end stop the run in an orderly way, even where a shell had them ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)


def _terminate(number: int, _: object) -> NoReturn:
    raise Terminated(number)


def _print_plan(chosen: Grid) -> None:
    for point in chosen.points:
        names = ", ".join(backends_of(point.workload, chosen.backends))
        print(f"{point.workload} {point.parameters}: {point.trials} trials of {names}")
    count = sum(1 for _ in chosen.trials())
    print(f"{count} trials, each at most {quantity.duration(chosen.time_limit_s)}")


def _conclude(opened: Results, as_json: bool, console: Console) -> int:
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
        console.print(f"{len(failed)} trials FAILED; what they printed: {opened.logs}")
        for row in list(failed.values())[:_SHOWN_FAILURES]:
            where = f"{row.workload} {row.scenario} {row.backend} trial {row.trial}"
            console.print(f"  {where}: {row.status}", markup=False)
    console.print(f"done; next: python -m harness report {opened.path}")
    return 1 if failed else 0


def _select(parsed: argparse.Namespace) -> Selection:
    return select(
        parsed.preset or _DEFAULT_PRESET,
        workloads=parsed.workload,
        backends=parsed.backend,
        settings=[_setting(text) for text in parsed.settings],
        trials=parsed.trials,
        seed=parsed.seed,
        time_limit_s=parsed.time_limit,
    )


def _setting(text: str) -> Setting:
    name, equals, values = text.partition("=")
    words = tuple(word.strip() for word in values.split(","))
    if not name or not equals or not all(words):
        raise UsageError(f"--set {text}: expected NAME=VALUE or NAME=VALUE,VALUE,...")
    workload, dot, parameter = name.strip().rpartition(".")
    return Setting(parameter, words, workload if dot else None)


def _open(parsed: argparse.Namespace, arguments: Sequence[str], chosen: Grid) -> AbstractContextManager[Results]:
    session = machine.describe_session(["python", "-m", "harness", *arguments], manager.WORKER_VARIABLES)
    preset = parsed.preset or _DEFAULT_PRESET
    run_id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{preset}"
    if parsed.output is not None:
        path = parsed.output
    elif parsed.resume:
        path = _latest()
    else:
        path = _RUNS / run_id
    if parsed.resume and results.holds_run(path):
        # Without a selection of its own, the command line means whatever the directory holds.
        asked = parsed.preset, parsed.workload, parsed.backend, parsed.settings, parsed.trials, parsed.seed
        selects = any(value not in (None, []) for value in asked)
        return results.reopen(path, chosen if selects else None, session)
    return results.create(path, run_id, chosen, session)


def _latest() -> Path:
    if not _LATEST.exists():
        raise UsageError(f"{_LATEST}: no such run yet; name a directory, or begin with `harness run`")
    return _LATEST.resolve()


def _point_latest(path: Path) -> None:
    """Let `results/latest` point to the run, unless something else than such a pointer is there."""
    if _LATEST.exists() and not _LATEST.is_symlink():
        return
    replacement = _LATEST.with_name(f".latest-{os.getpid()}")
    replacement.symlink_to(os.path.relpath(path, _LATEST.parent))
    replacement.replace(_LATEST)


def _directory(parsed: argparse.Namespace) -> Path:
    path: Path = parsed.directory or _latest()
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory; expected the results of `harness run`")
    return path


def _plot(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    from plots import figures
    from plots.errors import FigureError

    directory = _directory(parsed)
    try:
        files = figures.draw(directory, parsed.output or directory / "figures")
    except FigureError as error:
        raise UsageError(str(error)) from None
    for file in files:
        print(file)
    return 0


def _report(parsed: argparse.Namespace, _: Sequence[str]) -> int:
    summarised = summary.summarise(_directory(parsed))
    if parsed.json:
        print(json.dumps(report.to_json(summarised), indent=2))
        return 0
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_ELSEWHERE, highlight=False)
    report.to_terminal(summarised, console)
    written = report.write_markdown(summarised)
    console.print(f"\nwritten: {written}", style="dim")
    return 0


if __name__ == "__main__":
    sys.exit(main())

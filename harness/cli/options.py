"""The arguments of `python -m harness`: what can be said, and how what is said wrongly is refused. Does nothing."""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from harness.cli import compare
from harness.errors import UsageError
from harness.plan.presets import PRESETS
from harness.plan.selection import Setting
from harness.report.export import EXPORTS
from harness.studies.advise.advising import DESCRIPTION as ADVISE
from harness.studies.advise.advising import EXAMPLES as ADVISE_EXAMPLES
from harness.studies.advise.advising import add_arguments as add_advise
from harness.studies.doctor import probes
from reactorlib.errors import meant
from workloads.catalogue import BACKENDS, WORKLOADS

RUNS = Path("results/runs")
LATEST = Path("results/latest")
DEFAULT_PRESET = "quick"

Command = Callable[[argparse.Namespace, Sequence[str]], int]

_EXAMPLES = """\
examples:
  python -m harness list
  python -m harness doctor
  python -m harness advise --env mypackage:MyEnv-v0 --actors 24
  python -m harness run --preset smoke
  python -m harness run --workload gym_sampling --set env=Acrobot-v1 --set actors=3,7 --output acrobot
  python -m harness run --output acrobot --resume
  python -m harness breakdown acrobot
  python -m harness scaling acrobot
  python -m harness run --preset nodes
  python -m harness report acrobot
  python -m harness compare results/runs/before results/runs/after
"""
_RUN_EXAMPLES = """\
examples:
  python -m harness run
      the preset quick on every backend, into results/runs/<time>-quick
  python -m harness run --preset paper --budget 8h
      every point of the paper's figures, as often as eight hours allow
  python -m harness run --workload broadcast_gather --set object_bytes=10kB,1MiB,100MB --set work_seconds=0
      any parameter, any values; the points are the product of all values
  python -m harness run --set q_learning.actors=2,4 --set gym_sampling.env=Blackjack-v1
      a parameter of one workload only
  python -m harness run --resume
      completes the newest run that had no --output (results/latest)
  python -m harness run --resume --trials 8
      adds trials to it, for narrower intervals

exit status: 0 all rows ok; 1 a row failed; 2 bad input; 130 interrupted (then --resume completes the run)
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and nothing else: with the word that was meant, if one is like it."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What argparse does, and what no option is refused here, where the options are known."""
        found, rest = super().parse_known_args(args, namespace)
        wrong = next((word for word in rest if word.startswith("-")), None)
        if wrong is not None:
            self.error(f"unrecognized argument {wrong}{meant(wrong, self._option_string_actions)}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        choice = re.fullmatch(r"(?s)(.*invalid choice: '(.*)') \(choose from (.*)\)", message)
        if choice is not None:
            names = re.findall(r"[\w.-]+", choice[3])
            message = f"{choice[1]}{meant(choice[2], names) or '; expected ' + ', '.join(names)}"
        raise UsageError(f"{message}; see {self.prog} --help")


def parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser; what it parses has the chosen one of the commands as `command`. It raises UsageError."""
    raw = argparse.RawDescriptionHelpFormatter
    made = _Parser(
        prog="python -m harness",
        description="Compare the reactor runtime with Ray and with a serial loop, on this machine.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    subparsers = made.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, help_text: str, **described: Any) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = subparsers.add_parser(name, help=help_text, **described)
        command.set_defaults(command=commands[name])
        return command

    listing = add("list", "what there is to run: workloads, parameters, backends, presets")
    listing.add_argument("--json", action="store_true", help="for programs")
    _add_doctor(add("doctor", "what this machine is, what works here, what would harm a measurement"))
    _add_run(add("run", "measure", epilog=_RUN_EXAMPLES, formatter_class=raw))
    advice = {"description": ADVISE, "epilog": ADVISE_EXAMPLES, "formatter_class": raw}
    add_advise(add("advise", "your own environment: what serves it best here", **advice))
    _add_breakdown(add("breakdown", "where the rounds of a run's points go, on Ray and on reactors"))
    _add_scaling(add("scaling", "how the points of a run scale with workers: predicted, measured"))
    _add_report(add("report", "compare the backends of a run, with intervals and doubts"))
    compare.add_command(subparsers)
    return made


def _add_doctor(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Say on what machine and with which versions this would run, try what the suite needs (threads, processes, "
        "Ray, the Arcade Learning Environment, MPI), each in a process of its own, and name what would harm a "
        "measurement. Exit status 1 where something fails that the suite needs. For reports of trouble."
    )
    command.add_argument("--json", action="store_true", help="for programs")
    known = [*probes.NEEDED, *probes.EXTRA]
    command.add_argument("--only", action="append", choices=known, help="try only this; repeatable (default: all)")


def _add_report(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Print the answer on one screen, draw every figure that the run has rows for into figures/, and write "
        "report.md and report.html, one page with the figures in it that opens from disk."
    )
    _add_directory(command)
    add = command.add_argument
    form = command.add_mutually_exclusive_group()
    form.add_argument("--full", action="store_true", help="print every table before the answer")
    form.add_argument("--json", action="store_true", help="for programs; writes no files")
    form.add_argument("--export", choices=EXPORTS, help="print what this tracker reads; writes no files")
    add("--all-backends", action="store_true", help="draw every backend, not only loop, reactors, best Ray and ceiling")
    filled = "put results between the markers of this page too; repeatable"
    add("--readme", action="append", default=[], type=Path, metavar="FILE", help=filled)


def _add_directory(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "directory",
        type=Path,
        nargs="?",
        metavar="DIR",
        help=f"the run's directory (default: {LATEST}, the newest without --output)",
    )


def _add_names(add: Callable[..., Any], option: str, help_text: str) -> None:
    added = add(option, action="append", default=[], metavar="NAME", help=help_text)
    _completed(added, {"--workload": list(WORKLOADS), "--backend": list(BACKENDS)}[option])


def _add_settings(add: Callable[..., Any], help_text: str) -> None:
    metavar = "[WORKLOAD.]NAME=VALUE,..."
    add("--set", action="append", default=[], dest="settings", metavar=metavar, help=help_text)


def _completed(option: argparse.Action, words: Iterable[str]) -> None:
    """Have a shell offer these (see `__main__.main`)."""
    option.completer = lambda **_: list(words)  # type: ignore[attr-defined]  # argcomplete's way to be told


def _add_breakdown(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Run the points of a finished run again with few rounds, recording what hub and workers do, and write what "
        "part of a round each phase takes into breakdown.csv beside its measurements. A tool for looking: on Ray it "
        "wraps private functions, and its times are no measurements to compare."
    )
    _add_directory(command)
    add = command.add_argument
    _add_names(add, "--workload", "only this one; repeatable")
    _add_names(add, "--backend", "this one, even if the run had it not")
    add("--trials", type=_at_least(int, 1), default=3, metavar="N", help="repetitions (default: 3)")
    add("--rounds", type=_at_least(int, 1), default=100, metavar="N", help="at most so many (default: 100)")
    add("--time-limit", type=_at_least(float, 0.1), metavar="SECONDS", help="for one trial (default: the run's)")


def _add_scaling(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Measure what a message between two workers costs, trace the reactor program of each point of a finished run "
        "on one worker, calculate from both the speed-up on 1 to 64 workers, measure reactor-processes on 1 worker up "
        "to twice the cores against the serial loop, and write all into scaling.csv and messages.csv beside the run's "
        "measurements. report shows it."
    )
    _add_directory(command)
    add = command.add_argument
    _add_names(add, "--workload", "only this one; repeatable")
    _add_settings(add, "only the run's points with one of these values; repeatable")
    add("--trials", type=_at_least(int, 1), default=5, metavar="N", help="repetitions (default: 5)")
    add("--rounds", type=_at_least(int, 1), metavar="N", help="at most so many (default: the point's)")
    add("--time-limit", type=_at_least(float, 0.1), metavar="SECONDS", help="for one process (default: the run's)")


def _add_run(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Measure every point on every backend, in blocks of turns: all that is compared runs side by side."
    )
    add = command.add_argument
    _completed(add("--preset", metavar="NAME", help=f"{' | '.join(PRESETS)} (default: {DEFAULT_PRESET})"), PRESETS)
    _add_names(add, "--workload", "only this one; repeatable")
    _add_names(add, "--backend", "only this one; repeatable")
    _add_settings(add, "values of a parameter, instead of the preset's; repeatable")
    add("--trials", type=_at_least(int, 1), metavar="N", help="repetitions of every point on every backend")
    add(
        "--budget",
        type=budget_s,
        metavar="TIME",
        help="for all together, such as 90m or 8h: no trial beyond the first of a point begins that may not end in it "
        "(default: the preset's, where no --trials is given)",
    )
    add("--seed", type=_at_least(int, 0), metavar="N", help="of the order and of every workload (default: 0)")
    add("--output", type=Path, metavar="DIR", help=f"default: {RUNS}/<time>-<preset>, also as {LATEST}")
    add(
        "--resume",
        action="store_true",
        help="run only what an interrupted run still lacks, and again what failed; with --trials N also what there is "
        "not yet of N trials",
    )
    add(
        "--time-limit",
        type=_at_least(float, 0.1),
        metavar="SECONDS",
        help="for whatever a trial is asked, its start included; a turn with its lead, twice (default: the preset's)",
    )
    add("--dry-run", action="store_true", help="print what would run, and run nothing")
    add("--json", action="store_true", help="print what came out as JSON")


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


def budget_s(text: str) -> float:
    """Seconds that a text such as 45s, 90m, 90min or 8h says; raises ArgumentTypeError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|min|h)", text)
    if found is None or not float(found[1]):
        raise argparse.ArgumentTypeError(f"expected a time such as 45s, 90m or 8h, got {text!r}")
    return float(found[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600}[found[2]]


def setting(text: str) -> Setting:
    """What a `--set` says; raises UsageError."""
    name, equals, values = text.partition("=")
    words = tuple(word.strip() for word in values.split(","))
    if not name or not equals or not all(words):
        raise UsageError(f"--set {text}: expected NAME=VALUE or NAME=VALUE,VALUE,...")
    workload, dot, parameter = name.strip().rpartition(".")
    return Setting(parameter, words, workload if dot else None)

"""The options of `python -m harness`, and how wrong ones are refused. Does nothing."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import UsageError
from harness.plan.grid import LONGEST_S, MOST_TRIALS
from harness.plan.presets import PRESETS, TRIALS
from harness.plan.selection import Setting
from harness.report import readme_claims
from harness.report.export import EXPORTS
from harness.stats.judgement import MIN_EFFECT
from harness.studies.advise import advising
from harness.studies.doctor import probes
from reactorlib.errors import meant
from workloads.catalogue import BACKENDS, WORKLOADS

RUNS = Path("results/runs")
LATEST = Path("results/latest")
CONTRIBUTED = Path("results/contributed")
DEFAULT_PRESET = "quick"

Command = Callable[[argparse.Namespace, Sequence[str]], int]

_EXAMPLES = """\
examples:
  python -m harness run --preset smoke
  python -m harness report
  python -m harness advise --env mypackage:MyEnv-v0 --actors 24
"""
_RUN_EXAMPLES = """\
examples:
  python -m harness run
      the preset quick on its backends, into results/runs/<time>-quick
  python -m harness run --preset paper --trials 8
      every point of the paper's figures, with eight starts each
  python -m harness run --workload broadcast_gather --set object_bytes=10kB,1MiB,100MB --set work_seconds=0
      any parameter, any values; the points are the product of all values
  python -m harness run --set q_learning.actors=2,4 --set gym_sampling.env=Blackjack-v1
      a parameter of one workload only
  python -m harness run --resume --trials 8
      completes the newest run without --output (results/latest), and adds trials for narrower intervals

exit status: 0 all rows ok; 1 a row failed; 2 bad input; 130 interrupted (then --resume completes the run)
"""
_RUN = "Measure every point on every backend, in blocks of turns: all that is compared runs side by side."
_DOCTOR = (
    "Print the machine and the versions, try what the suite needs, and name what would harm a measurement. The exit "
    "status is 1 if something fails that the suite needs. Other findings do not change it."
)
_CLAIM = """\
Measure claims of README on this machine, by the two backends that each compares. Each prints the ratio, its interval,
the expected range, and PASS or FAIL. FAIL means that the ratio is outside the range, or that something failed. The
exit status is then 1.
"""
_BREAKDOWN = (
    "Run the points of a finished run again, and write the part of a round that each phase takes into breakdown.csv. "
    "On Ray it wraps private functions: its times are no measurements to compare."
)
_SCALING = (
    "Measure the cost of a message, and trace the reactor programs of a finished run. Predict the speed-up on 1 to 64 "
    "workers, measure it up to twice the cores, and write scaling.csv and messages.csv."
)
_CONTRIBUTED = (
    "Check the files that runs of the preset contribute have left on any machine. Print their speed-ups by cores, and "
    "draw them. A broken file ends the command, with its place and fault in one line."
)
_REPORT = "Print the answer on one screen, and write figures/, report.md and report.html, which opens from disk."
_COMPARE = """\
Compare two runs of one grid by the ratios measured inside each: every reactor backend against serial, Ray and the
ceiling. A regression is larger than --min-effect. Without a change, a regression among all ratios would be found in
less than one of twenty comparisons (Holm). Versions of packages may differ; a note names those that do.

exit status: 0 no regression; 1 regressions, a line each; 2 cannot compare, and why; 3 with --strict, where no
regression is shown and the intervals of some ratios reach one all the same
"""


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, with the word that was probably meant."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse an unknown option here, where the known ones are at hand."""
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
    """The parser, which adds the chosen command as `command` to what it parses. It raises UsageError."""
    raw = argparse.RawDescriptionHelpFormatter
    made = _Parser(
        prog="python -m harness",
        description="Compare the reactor runtime with Ray and with a serial loop, on this machine.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    subparsers = made.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, help_text: str, description: str | None = None, epilog: str | None = None) -> Any:
        formatter = raw if epilog or description == _COMPARE else argparse.HelpFormatter
        command = subparsers.add_parser(
            name, help=help_text, description=description, epilog=epilog, formatter_class=formatter
        )
        command.set_defaults(command=commands[name])
        return command

    add("list", "what there is to run: workloads, parameters, backends, presets")
    _add_doctor(add("doctor", "what this machine is, what works here, what would harm a measurement", _DOCTOR))
    _add_run(add("run", "measure", _RUN, _RUN_EXAMPLES))
    your_own = "your own environment: what serves it best here"
    advising.add_arguments(add("advise", your_own, advising.DESCRIPTION, advising.EXAMPLES))
    _add_claim(add("claim", "a claim of README, measured here: PASS or FAIL; without a name, the list", _CLAIM))
    _add_breakdown(add("breakdown", "where the rounds of a run's points go, on Ray and on reactors", _BREAKDOWN))
    _add_scaling(add("scaling", "how the points of a run scale with workers: predicted, measured", _SCALING))
    _add_report(add("report", "compare the backends of a run, with intervals and doubts", _REPORT))
    _add_contributed(add("contributed", "speed-up by cores, from the files of many machines", _CONTRIBUTED))
    _add_compare(add("compare", "what became slower between two runs", _COMPARE))
    return made


def _add_doctor(command: argparse.ArgumentParser) -> None:
    known = [*probes.NEEDED, *probes.EXTRA]
    command.add_argument("--only", action="append", choices=known, help="try only this, repeatable (default: all)")
    _add_json(command)


def _add_run(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--preset", choices=PRESETS, metavar="NAME", help=f"{' | '.join(PRESETS)} (default: {DEFAULT_PRESET})")
    _add_workload(command)
    _add_backend(command, "only this one; repeatable")
    without_gil = "a free-threaded interpreter: adds the backends that need no GIL (*-nogil), in the same turns"
    add("--free-threaded", metavar="PYTHON", help=without_gil)
    values, form = "values of a parameter, instead of the preset's; repeatable", "[WORKLOAD.]NAME=VALUE,..."
    add("--set", action="append", default=[], dest="settings", metavar=form, help=values)
    _add_trials(command, f"{TRIALS}, or as many as the budget of the preset allows; smoke has 1", None)
    budget = "for all together, such as 90m; the first trial of each point runs in any case (default: the preset's)"
    add("--budget", type=budget_s, metavar="TIME", help=budget)
    add("--seed", type=at_least(int, 0), metavar="N", help="of the order and of every workload (default: 0)")
    add("--output", type=Path, metavar="DIR", help=f"default: {RUNS}/<time>-<preset>, also as {LATEST}")
    add("--resume", action="store_true", help="run what an interrupted run lacks, and again what failed")
    limit = "for each thing that a trial is asked, its start included (default: the preset's)"
    add("--time-limit", type=at_least(float, 0.1, LONGEST_S), metavar="SECONDS", help=limit)
    add("--dry-run", action="store_true", help="print what would run, and run nothing")
    _add_json(command)


def _add_claim(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="NAME", help="a claim of the list, or all")
    starts = f"fresh starts of both backends (default: {readme_claims.STARTS})"
    command.add_argument("--starts", type=at_least(int, 3), default=readme_claims.STARTS, metavar="N", help=starts)


def _add_breakdown(command: argparse.ArgumentParser) -> None:
    _add_directory(command)
    _add_workload(command)
    _add_backend(command, "this one, even if the run lacks it; repeatable")
    _add_trials(command, str(TRIALS), TRIALS)
    _add_rounds(command, "100", 100)


def _add_scaling(command: argparse.ArgumentParser) -> None:
    _add_directory(command)
    _add_workload(command)
    _add_trials(command, str(TRIALS), TRIALS)
    _add_rounds(command, "the point's", None)


def _add_report(command: argparse.ArgumentParser) -> None:
    _add_directory(command)
    form = command.add_mutually_exclusive_group()
    _add_json(form)
    form.add_argument("--export", choices=EXPORTS, help="print what this tracker reads; writes no files")
    every = "draw every backend, not only loop, reactors, best Ray and ceiling"
    command.add_argument("--all-backends", action="store_true", help=every)
    _add_readme(command)


def _add_contributed(command: argparse.ArgumentParser) -> None:
    files = f"the directory of the files (default: {CONTRIBUTED})"
    command.add_argument("directory", type=Path, nargs="?", default=CONTRIBUTED, metavar="DIR", help=files)
    _add_readme(command)


def _add_readme(command: argparse.ArgumentParser) -> None:
    filled = "put results between the markers of this page as well; repeatable"
    command.add_argument("--readme", action="append", default=[], type=Path, metavar="FILE", help=filled)


def _add_compare(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("base", type=Path, metavar="BASE", help="the directory of the run before")
    add("new", type=Path, metavar="NEW", help="the directory of the run after")
    effect = f"smallest change that counts; 0.1 is 10 %% (default: {MIN_EFFECT})"
    add("--min-effect", type=at_least(float, 0, 10), default=MIN_EFFECT, metavar="X", help=effect)
    add("--strict", action="store_true", help="exit with 3 where a regression can't be excluded")
    _add_json(command)


def _add_directory(command: argparse.ArgumentParser) -> None:
    newest = f"the run's directory (default: {LATEST}, the newest without --output)"
    command.add_argument("directory", type=Path, nargs="?", metavar="DIR", help=newest)


def _add_json(command: Any) -> None:
    command.add_argument("--json", action="store_true", help="for programs; writes no figures or pages")


def _add_workload(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--workload", action="append", default=[], choices=WORKLOADS, metavar="NAME", help="only this one; repeatable")


def _add_backend(command: argparse.ArgumentParser, help_text: str) -> None:
    command.add_argument("--backend", action="append", default=[], choices=BACKENDS, metavar="NAME", help=help_text)


def _add_trials(command: argparse.ArgumentParser, told: str, default: int | None) -> None:
    help_text = f"how often each point starts afresh on each backend (default: {told})"
    command.add_argument("--trials", type=at_least(int, 1, MOST_TRIALS), default=default, metavar="N", help=help_text)


def _add_rounds(command: argparse.ArgumentParser, told: str, default: int | None) -> None:
    help_text = f"the most rounds of a trial (default: {told})"
    command.add_argument("--rounds", type=at_least(int, 1), default=default, metavar="N", help=help_text)


def at_least(kind: type[int] | type[float], minimum: float, maximum: float | None = None) -> Any:
    """The type of an option that is a number within these bounds."""
    words = "an integer" if kind is int else "a number"

    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {words}, got {text!r}") from None
        if not minimum <= value < float("inf") or (maximum is not None and value > maximum):
            most = f" and at most {maximum:g}" if maximum is not None else ""
            raise argparse.ArgumentTypeError(f"must be at least {minimum:g}{most}, got {text}")
        return value

    return parse


def budget_s(text: str) -> float:
    """The seconds of a text such as 45s, 90m, 90min or 8h. Raises ArgumentTypeError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|min|h)", text)
    if found is None or not float(found[1]):
        raise argparse.ArgumentTypeError(f"expected a time such as 45s, 90m or 8h, got {text!r}")
    return float(found[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600}[found[2]]


def setting(text: str) -> Setting:
    """The setting of a `--set`. Raises UsageError."""
    name, equals, values = text.partition("=")
    words = tuple(word.strip() for word in values.split(","))
    if not name or not equals or not all(words):
        raise UsageError(f"--set {text}: expected NAME=VALUE or NAME=VALUE,VALUE,...")
    workload, dot, parameter = name.strip().rpartition(".")
    return Setting(parameter, words, workload if dot else None)

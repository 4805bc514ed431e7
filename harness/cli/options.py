"""The options of `python -m harness`, and how wrong ones are refused. Does nothing."""

import argparse
import re
import tomllib
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
    texts = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
    made = _Parser(prog="python -m harness", formatter_class=raw, **texts.pop("harness"))
    subparsers = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, own in texts.items():
        formatter = raw if "epilog" in own or "\n\n" in own.get("description", "") else argparse.HelpFormatter
        command = subparsers.add_parser(name, formatter_class=formatter, **own)
        command.set_defaults(command=commands[name])
        if name in _OPTIONS:
            _OPTIONS[name](command)
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


def _add_claim(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="NAME", help="a claim of the list, or all")
    starts = f"fresh starts of both backends (default: {readme_claims.STARTS})"
    command.add_argument("--starts", type=at_least(int, 3), default=readme_claims.STARTS, metavar="N", help=starts)


def _add_breakdown(command: argparse.ArgumentParser) -> None:
    _add_study(command, "100", 100)
    _add_backend(command, "this one, even if the run lacks it; repeatable")


def _add_scaling(command: argparse.ArgumentParser) -> None:
    _add_study(command, "the point's", None)


def _add_study(command: argparse.ArgumentParser, told: str, rounds: int | None) -> None:
    _add_directory(command)
    _add_workload(command)
    _add_trials(command, str(TRIALS), TRIALS)
    most = f"the most rounds of a trial (default: {told})"
    command.add_argument("--rounds", type=at_least(int, 1), default=rounds, metavar="N", help=most)


def _add_report(command: argparse.ArgumentParser) -> None:
    _add_directory(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--full", action="store_true", help="print every table before the answer")
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


_OPTIONS: Mapping[str, Callable[[argparse.ArgumentParser], None]] = {
    "doctor": _add_doctor,
    "run": _add_run,
    "advise": advising.add_arguments,
    "claim": _add_claim,
    "breakdown": _add_breakdown,
    "scaling": _add_scaling,
    "report": _add_report,
    "contributed": _add_contributed,
    "compare": _add_compare,
}


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

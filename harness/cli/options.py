"""The options of `python -m harness`, and how wrong ones are refused. Does nothing."""

import argparse
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import reactorlib
from harness.errors import UsageError
from harness.plan.grid import LONGEST_S, MOST_TRIALS, SCHEMA
from harness.plan.presets import PRESETS, TRIALS
from harness.plan.selection import Setting
from harness.report.export import EXPORTS
from harness.stats.judgement import ALLOWED, MIN_EFFECT
from harness.studies.advise import advising
from harness.studies.doctor import probes
from reactorlib.errors import meant
from workloads import outside
from workloads.catalogue import BACKENDS, WORKLOADS
from workloads.parameter import ParameterError

RUNS = Path("results/runs")
LATEST = Path("results/latest")
CONTRIBUTED = Path("results/contributed")
DEFAULT_PRESET = "quick"
ALLOW = f"end with 0 in spite of these, with commas between: {', '.join(ALLOWED)}"


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


def parser(commands: Mapping[str, Callable[[argparse.Namespace, Sequence[str]], int]]) -> argparse.ArgumentParser:
    """The parser, which adds the chosen command as `command` to what it parses. It raises UsageError."""
    raw = argparse.RawDescriptionHelpFormatter
    texts = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
    made = _Parser(prog="python -m harness", formatter_class=raw, **texts.pop("harness"))
    version = f"reactorlib {reactorlib.__version__}, files of schema {SCHEMA}"
    made.add_argument("--version", action="version", version=version)
    subparsers = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    shared = texts.pop("options")
    for name, own in texts.items():
        options = {flag: shared.get(flag, {}) | fields for flag, fields in own.pop("options", {}).items()}
        formatter = raw if "epilog" in own or "\n\n" in own.get("description", "") else argparse.HelpFormatter
        command = subparsers.add_parser(name, formatter_class=formatter, **own)
        command.set_defaults(command=commands[name])
        # Options that choose the form of a report exclude each other.
        forms: Any = command.add_mutually_exclusive_group() if "--full" in options else command
        for flag, fields in options.items():
            told: dict[str, Any] = {
                word: text.format(**_WORDS) if isinstance(text, str) else text for word, text in fields.items()
            }
            told |= {word: known[flag] for word, known in (("type", _TYPES), ("choices", _CHOICES)) if flag in known}
            (forms if flag in _FORMS else command).add_argument(flag, **told)
    return made


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


def core_counts(text: str) -> list[int]:
    """The numbers of a text such as 1,2,4, in order. Raises ArgumentTypeError."""
    words = text.split(",")
    if not all(word.isdecimal() and int(word) for word in words):
        raise argparse.ArgumentTypeError(f"expected numbers of cores such as 1,2,4, got {text!r}")
    return sorted({int(word) for word in words})


def allowed(text: str) -> tuple[str, ...]:
    """The words of an `--allow`. Raises ArgumentTypeError."""
    words = tuple(word.strip() for word in text.split(","))
    if wrong := [word for word in words if word not in ALLOWED]:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(ALLOWED)} with commas between, got {wrong[0]!r}")
    return words


def setting(text: str) -> Setting:
    """The setting of a `--set`. Raises UsageError."""
    name, equals, values = text.partition("=")
    words = tuple(word.strip() for word in values.split(","))
    if not name or not equals or not all(words):
        raise UsageError(f"--set {text}: expected NAME=VALUE or NAME=VALUE,VALUE,...")
    workload, dot, parameter = name.strip().rpartition(".")
    return Setting(parameter, words, workload if dot else None)


class OrPath:
    """The names that an option takes. It also takes those that have been entered for something from outside."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in outside.PLACES


def entered(text: str) -> str:
    """The name of the thing at a path, or the word itself: see `outside.entered`."""
    try:
        return outside.entered(text)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


_FORMS = ("--full", "--json", "--export")
_CHOICES: dict[str, Any] = {
    "--preset": PRESETS, "--workload": OrPath(WORKLOADS), "--backend": OrPath(BACKENDS), "--export": EXPORTS,
    "--only": [*probes.NEEDED, *probes.EXTRA],
}  # fmt: skip
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("directory", "base", "new", "--output", "--readme"), Path), "--actors": at_least(int, 1),
    **dict.fromkeys(("--workload", "--backend"), entered), "--seconds": at_least(float, 1, LONGEST_S),
    "--seed": at_least(int, 0), "--trials": at_least(int, 1, MOST_TRIALS), "--starts": at_least(int, 3),
    "--rounds": at_least(int, 1), "--budget": budget_s, "--cores": core_counts,
    "--time-limit": at_least(float, 0.1, LONGEST_S),
    "--min-effect": at_least(float, 0, 10), "--allow": allowed,
}  # fmt: skip
# The values that the texts of options name.
_WORDS = {
    "PRESETS": " | ".join(PRESETS), "PRESET": DEFAULT_PRESET, "TRIALS": TRIALS,
    "EFFECT": MIN_EFFECT, "ALLOW": ALLOW, "RUNS": RUNS, "LATEST": LATEST, "CONTRIBUTED": CONTRIBUTED,
    "ADVICE": advising.OUTPUT,
}  # fmt: skip

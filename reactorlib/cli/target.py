"""From `module:Class` and `--set name=value` to a reactor class and its arguments. Every complaint is one line."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from reactorlib import Reactor, Time
from reactorlib.cli.output import UsageError
from reactorlib.errors import meant
from reactorlib.tag import UNITS
from reactorlib.tool import user_module

_MAIN = "Main"  # the default among several classes of a module
_TIME = re.compile(rf"(\d+(?:\.\d+)?) *({'|'.join(UNITS)})")


def option(*flags: str, **details: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """An argument of a command, as `add_argument` takes it."""
    return flags, details


TARGET = [
    option("target", metavar="TARGET", help="module:Class, file.py:Class or file.lf"),
    option("--set", dest="settings", metavar="NAME=VALUE", action="append", default=[],
           help="a parameter of the constructor, such as n=4, name=Pong or period=5ms; repeatable"),
]  # fmt: skip


def resolved(options: argparse.Namespace, structure: bool | None = False) -> tuple[type[Reactor], dict[str, Any]]:
    """The class and the arguments that the options name. Raises UsageError.

    With `structure` None, code in a Lingua Franca file for another target than Python is left out.
    """
    cls = _class(options.target, structure)
    return cls, _arguments(cls, options.settings)


def add_parameters(options: argparse.Namespace, rest: Sequence[str]) -> str:
    """Take `--name value` for parameters of a Lingua Franca program. Returns a complaint, or nothing."""
    if rest and not getattr(options, "target", "").partition(":")[0].endswith(".lf"):
        return f"unrecognized arguments: {' '.join(rest)}"
    left = list(rest)
    while left:
        name, equals, value = left.pop(0).partition("=")
        if not name.startswith("--") or not (equals or left):
            return f"a parameter is given as --name value, got {name}"
        if not equals:
            value = left.pop(0)
            if left and left[0] in UNITS:  # of a time in two words
                value = f"{value} {left.pop(0)}"
        options.settings = [*options.settings, f"{name[2:]}={value}"]
    return ""


def _class(target: str, structure: bool | None) -> type[Reactor]:
    place, _, name = target.rpartition(":") if ":" in target else (target, "", "")
    is_file = place.endswith((".lf", ".py"))
    if is_file and not os.path.lexists(place):  # `is_file` may raise
        raise UsageError(f"no file {place}")
    if place.endswith(".lf"):
        from reactorlib.lf.load import load  # for these files only

        return load(place, name or None, structure=structure)
    module = _module(place, is_file)
    classes = [cls for cls in vars(module).values() if _is_reactor(cls) and cls.__module__ == module.__name__]
    declared = f": it declares {', '.join(cls.__name__ for cls in classes) or 'no reactor'}"
    if not name:
        mains = [cls for cls in classes if len(classes) == 1 or cls.__name__ == _MAIN]
        if len(mains) != 1:
            raise UsageError(f"{target}: name the reactor, as in {target}:Class{declared}")
        return mains[0]
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not _is_reactor(found):
        hint = meant(name, (cls.__name__ for cls in classes)) or declared
        raise UsageError(f"{place} has no reactor {name!r}{hint}")
    return found


def _is_reactor(found: object) -> TypeGuard[type[Reactor]]:
    return isinstance(found, type) and issubclass(found, Reactor)


def _module(place: str, is_file: bool) -> ModuleType:
    path = Path(place)
    sys.path.insert(0, str(path.resolve().parent if is_file else Path.cwd()))
    try:
        return _from_file(path) if is_file else user_module.module(place)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{place}.".startswith(f"{error.name}."):
            fault = f"no module named {place!r} on the path; a file is given as path/to/file.py:Class"
            raise UsageError(fault) from error
        raise UsageError(user_module.failure(place, error)) from error


def _from_file(path: Path) -> ModuleType:
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_program"
    sys.modules.pop(name, None)
    return user_module.module(name, path)


def _arguments(cls: type[Reactor], settings: Iterable[str]) -> dict[str, Any]:
    constructor: Any = cls.__init__
    own = [] if constructor is object.__init__ else list(inspect.signature(constructor).parameters.values())[1:]
    known = {p.name: p for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in own)
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set wants NAME=VALUE, got {setting!r}")
        if name not in known and not takes_any:
            has = f"its parameters are {', '.join(known)}" if known else "it has none"
            raise UsageError(f"{cls.__name__} has no parameter {name!r}: {has}")
        found[name] = _value(text, known[name].annotation if name in known else inspect.Parameter.empty)
    missing = [name for name, p in known.items() if p.default is p.empty and name not in found]
    if missing:
        wanted = " ".join(f"--set {name}=..." for name in missing)
        raise UsageError(f"{cls.__name__} needs {', '.join(missing)}: {wanted}")
    return found


def _value(text: str, annotation: Any) -> Any:
    """The value of a setting: a time with its unit, a Python literal, or the text itself."""
    if annotation in (str, "str"):
        return text
    time = parsed_time(text)
    if time is not None:
        return time
    try:
        return ast.literal_eval(text.capitalize() if text.lower() in ("true", "false") else text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def parsed_time(text: str) -> Time | None:
    """A time such as `5ms` or `1.5 s`, or None.

    >>> parsed_time("1.5ms"), parsed_time("5")
    (1500000, None)
    """
    match = _TIME.fullmatch(text.strip())
    return None if match is None else Time(round(Fraction(match[1]) * int(UNITS[match[2]])))


def time_option(text: str) -> Time:
    """A time on the command line, for argparse."""
    time = parsed_time(text)
    if time is None:
        raise argparse.ArgumentTypeError(f"expected a time with its unit, such as 500ms or 1s, got {text!r}")
    return time


def count_option(text: str) -> int:
    """A positive whole number, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive whole number, got {text!r}")
    return int(text)

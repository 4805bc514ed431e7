"""Start, check, run, draw, trace and show reactor programs.

TARGET is module:Class for a module on the path, or file.py:Class. Leave the class out where a file declares only one
reactor, or one called Main. Parameters of its constructor are given with --set. A Lingua Franca file is
file.lf or file.lf:Reactor, and its parameters may be given as --name value.

examples:
  python -m reactorlib new first.py
  python -m reactorlib check examples/powers.py:Powers
  python -m reactorlib graph examples/rl_pipeline.py:Pipeline -o pipeline.svg
  python -m reactorlib run examples/powers.py:Powers --set rounds=5
  python -m reactorlib run examples/rl_pipeline.lf --n 4

exit codes: 0 done, 1 the program has a fault or failed, 2 the call makes no sense or standard output cannot be
written, 130 interrupted, 141 the reader of standard output left early
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NoReturn

from reactorlib import ReactionError, ReactorError, RunError
from reactorlib.cli import check, check_isolation, evaluate, graph, new, run, seeds, source, trace
from reactorlib.cli.output import Result, UsageError, complain, show, show_traceback
from reactorlib.cli.run import prints, speaks, spelled_out
from reactorlib.cli.target import add_parameters, option
from reactorlib.errors import meant
from reactorlib.tool import standard_output

DONE, FAULTY, MISUSED, INTERRUPTED = 0, 1, 2, 130

# Each module is the command of its name: its docstring is the help, `run` returns the result of the ARGUMENTS. A result
# goes to standard output, everything about it to standard error.
COMMANDS = (new, check, run, graph, trace, source, check_isolation, evaluate, seeds)
JSON = option("--json", action="store_true", help="print the result as one line of JSON")


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are two lines."""

    def error(self, message: str) -> NoReturn:
        """Complain, point to the help, and end."""
        complain(f"{message}\n    {self.prog} --help lists what it takes")
        raise SystemExit(MISUSED)


@standard_output.ended
def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser, commands = parsers()
    if not given:
        parser.print_help(sys.stderr)
        return MISUSED
    options, rest = parser.parse_known_args(given[:1] + spelled_out(given[1:]) if given[:1] == ["run"] else given)
    if fault := add_parameters(options, rest):
        command = commands[next(word for word in given if word in commands)]
        known = command._option_string_actions
        command.error(fault + (": it belongs after the command" if rest[0] in known else meant(rest[0], known)))
    try:
        with nullcontext() if prints(options) else standard_output.to_stderr():
            result: Result = options.run(options)
        if speaks():
            show(result, options.json)
        return FAULTY if result.faults or result.failed else DONE
    except (UsageError, RunError, ModuleNotFoundError) as error:  # without Gymnasium its commands have no module
        return _complain(error, MISUSED)
    except ReactorError as error:
        if standard_output.fault():  # which a reaction met when it printed
            return FAULTY
        if isinstance(error, ReactionError) and error.__cause__ is not None and speaks():
            show_traceback(error.__cause__)
        return _complain(error, FAULTY)
    except KeyboardInterrupt:
        return _complain(options.interrupted, INTERRUPTED)


def _complain(message: object, code: int) -> int:
    if speaks():
        complain(message)
    return code


def parsers() -> tuple[Parser, dict[str, Parser]]:
    """The parser, and that of each command."""
    parser = Parser(prog="python -m reactorlib", **_texts(__doc__))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        texts = _texts(module.__doc__)
        command = commands.add_parser(name, help=texts["description"], allow_abbrev=False, **texts)
        for flags, details in (*module.ARGUMENTS, JSON):
            command.add_argument(*flags, **details)
        command.set_defaults(run=module.run, interrupted=getattr(module, "INTERRUPTED", "interrupted"))
    return parser, commands.choices


def _texts(docstring: str | None) -> dict[str, Any]:
    """The help that a docstring is: its first line, and the rest as it stands."""
    first, _, rest = (docstring or "").partition("\n\n")
    return {"description": first, "epilog": rest, "formatter_class": argparse.RawDescriptionHelpFormatter}

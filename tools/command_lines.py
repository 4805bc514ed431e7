"""Write docs/reference/command-lines.md from the parsers of `python -m harness` and `python -m reactorlib`.

python -m tools.command_lines
"""

import argparse
from collections.abc import Iterator
from html import escape
from pathlib import Path

from harness.cli.commands import COMMANDS
from harness.cli.options import parser as harness_parser
from reactorlib.cli import parsers

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "command-lines.md"
_INTRODUCTION = """\
# Command lines

Every command of the suite and of the library, with its options. `python -m tools.command_lines` writes this page
from the parsers. In a clone, `python` is `.venv/bin/python`. Each command also has `--help`.
"""


def page() -> str:
    """The whole page in Markdown."""
    programs = {"python -m harness": harness_parser(COMMANDS), "python -m reactorlib": parsers()[0]}
    return "\n".join([_INTRODUCTION, *(part for name, made in programs.items() for part in _program(name, made))])


def _program(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    short = name.rpartition(" ")[2]
    yield f"## `{name}`\n"
    yield "| Command | Purpose |\n|---|---|"
    for choice in commands._choices_actions:
        yield f"| [`{choice.dest}`](#{short}-{choice.dest}) | {_cell(choice.help or '')} |"
    for command, sub in commands.choices.items():
        yield f"\n### {short} {command}\n"
        yield from _command(sub)


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    head, _, details = (parser.description or "").partition("\n\n")
    if head:
        yield " ".join(head.split()) + "\n"
    yield "| Argument | Meaning |\n|---|---|"
    formatter = parser._get_formatter()
    for action in parser._actions:
        if action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            yield f"| {_spelling(action)} | {_cell(formatter._expand_help(action) if action.help else '')} |"
    notes = "\n\n".join(text.strip("\n") for text in (details, parser.epilog or "") if text.strip())
    if notes:
        yield f"\n```text\n{notes}\n```"


def _spelling(action: argparse.Action) -> str:
    """How an argument is typed, with its choices where they are not described."""
    names = [f"`{name}`" for name in action.option_strings]
    chosen = action.choices if action.metavar is None else None
    if action.nargs == 0:
        return ", ".join(names)
    if chosen:
        values = " or ".join(f"`{choice}`" for choice in chosen)
    else:
        metavar = action.metavar or action.dest.upper()
        values = f"`{metavar if isinstance(metavar, str) else ' '.join(metavar)}`"
    return " ".join([", ".join(names), values]).strip()


def _cell(text: str) -> str:
    return escape(" ".join(text.split()), quote=False).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""`python -m reactorlib graph`: the dataflow diagram of a program."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from reactorlib.cli.output import UsageError, complain_of, write_file
from reactorlib.cli.target import add_target, count_option, resolved
from reactorlib.elaboration.elaborate import examine
from reactorlib.elaboration.program import Elaborated
from reactorlib.schedule.partition import partition
from reactorlib.view.diagram import FORMATS, Diagram, DiagramError, diagram_of, rendered

_EPILOG = """\
The format is that of the file's suffix: svg, png (needs matplotlib), dot (Graphviz), mmd (Mermaid) or html
(one page with a legend, opens without a network). A program with a fault, such as a causality cycle, is drawn
as far as it goes, with the cycle marked; the fault is printed, and the exit code is 1.

examples:
  python -m reactorlib graph examples/rl_pipeline.py:Pipeline -o pipeline.svg
  python -m reactorlib graph examples/rl_pipeline.py:Pipeline --unfold --levels --workers 2 -o pipeline.html
  python -m reactorlib graph examples/powers.py:Powers --set workers=8 -o powers.png
  python -m reactorlib graph examples/powers.py:Powers --format mmd
"""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "graph", help="draw a program",
        description="Draw a program's dataflow: reactors, reactions, ports, banks, timers, actions, modes, delays.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add_target(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="file.svg, .png, .dot, .mmd or .html; default: print svg"
    )
    parser.add_argument("--format", choices=FORMATS, help="of what is printed, or of a file with another suffix")
    parser.add_argument("--unfold", action="store_true", help="draw every member of a bank")
    parser.add_argument("--levels", action="store_true", help="write its level to each reaction")
    parser.add_argument(
        "--workers", metavar="N", type=count_option, help="mark where each reactor lives with N workers"
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Draw, write, and say what keeps the program from running, if anything does."""
    kind = _format(options)
    cls, parameters = resolved(options, structure=None)
    program, faults = examine(cls, **parameters)
    placement = _placement(program, options.workers) if options.workers and not faults else None
    diagram = diagram_of(
        program, unfold=options.unfold, levels=options.levels, placement=placement, faults=faults
    )  # fmt: skip
    try:
        picture = rendered(diagram, kind)
    except DiagramError as error:
        raise UsageError(error) from error
    _write(options, diagram, kind, picture)
    complain_of(faults)
    return 1 if faults else 0


def _format(options: argparse.Namespace) -> str:
    if options.format:
        return str(options.format)
    if options.output is None:
        return "svg"
    suffix = Path(options.output).suffix.removeprefix(".")
    if suffix not in FORMATS:
        raise UsageError(
            f"{options.output}: the suffix names the format, one of {', '.join(FORMATS)}; or give --format"
        )
    return suffix


def _placement(program: Elaborated, workers: int) -> dict[str, int]:
    placed = partition(program, workers)
    return {instance.path: worker for instance, worker in zip(program.instances, placed.of_instance, strict=True)}


def _write(options: argparse.Namespace, diagram: Diagram, kind: str, picture: bytes) -> None:
    if options.output is None and not options.json:
        sys.stdout.buffer.write(picture)
        return
    path = options.output or f"{diagram.root.title}.{kind}"
    write_file(path, picture)
    if options.json:
        print(json.dumps({"file": path, "format": kind, "reactors": diagram.reactors, "reactions": diagram.reactions,
                          "faults": list(diagram.faults)}))  # fmt: skip
    else:
        print(f"{path}: {diagram.description}")

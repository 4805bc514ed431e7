"""Draw the dataflow of a program: reactors, reactions, ports, banks, timers, actions, modes, delays.

The format is that of the file's suffix: svg, html (one page with a legend, opens without a network), dot (Graphviz) or
mmd (Mermaid). For a PNG, convert the svg: rsvg-convert pipeline.svg -o pipeline.png. A program with a fault, such as
a causality cycle, is drawn as far as possible, with the cycle marked. The fault is printed, and the exit code is 1.

examples:
  python -m reactorlib graph examples/rl_pipeline.py:Pipeline -o pipeline.svg
  python -m reactorlib graph examples/rl_pipeline.py:Pipeline --unfold --levels --workers 2 -o pipeline.html
  python -m reactorlib graph examples/powers.py:Powers --format mmd
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from reactorlib.cli.output import Result, UsageError, write_file
from reactorlib.cli.target import TARGET, count_option, option, resolved
from reactorlib.elaboration.elaborate import examine
from reactorlib.schedule.partition import partition
from reactorlib.view.diagram import WRITERS, diagram_of

ARGUMENTS = [
    *TARGET,
    option("-o", "--output", metavar="FILE", help="file.svg, .html, .dot or .mmd (default: print svg)"),
    option("--format", choices=WRITERS, help="the format to print, or of a file with another suffix"),
    option("--unfold", action="store_true", help="draw every member of a bank"),
    option("--levels", action="store_true", help="write its level to each reaction"),
    option("--workers", metavar="N", type=count_option, help="mark where each reactor runs with N workers"),
]


def run(options: argparse.Namespace) -> Result:
    """Draw, and write or print the picture."""
    kind = options.format or ("svg" if options.output is None else Path(options.output).suffix.removeprefix("."))
    if kind not in WRITERS:
        known = ", ".join(WRITERS)
        raise UsageError(f"{options.output}: the suffix names the format, one of {known}; or give --format")
    cls, parameters = resolved(options, structure=None)
    program, faults = examine(cls, **parameters)
    workers: Sequence[int] = ()
    if options.workers and not faults:
        from reactorlib.lf import federates  # for this option only

        workers = partition(program, options.workers, federates(program, options.workers)).of_instance
    diagram = diagram_of(program, unfold=options.unfold, levels=options.levels, workers=workers, faults=faults)
    picture = WRITERS[kind](diagram)
    sizes = {"reactors": diagram.reactors, "reactions": diagram.reactions, "faults": faults}
    record = {"file": options.output, "format": kind, **sizes}
    if options.output is None:
        return Result({**record, "picture": picture}, picture.removesuffix("\n"), faults)
    write_file(options.output, picture.encode())
    return Result(record, f"{options.output}: {diagram.description}", faults)

"""Report every fault of a program, without running it.

The exit code is 0 without a fault, else 1. Of very many faults the first and the last are shown; --json has all. Of a
Lingua Franca file for another target than Python, only the structure is checked.

examples:
  python -m reactorlib check examples/powers.py:Powers --set workers=8
  python -m reactorlib check examples/powers.py:Powers --json
  python -m reactorlib check examples/rl_pipeline.lf
"""

from __future__ import annotations

import argparse
import json

from reactorlib.cli.output import complain_of
from reactorlib.cli.target import add_target, resolved
from reactorlib.elaboration.elaborate import examine


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_target(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    cls, parameters = resolved(options, structure=None)
    program, faults = examine(cls, **parameters)
    counts = {"reactors": len(program.instances), "reactions": len(program.reactions)}
    if options.json:
        print(json.dumps({"program": cls.__name__, **counts, "faults": faults}))
    else:
        complain_of(faults)
        if not faults:
            print(f"{cls.__name__}: {counts['reactors']} reactors, {counts['reactions']} reactions, no fault")
    return 1 if faults else 0

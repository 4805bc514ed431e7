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

from reactorlib.cli.output import Result
from reactorlib.cli.target import TARGET, resolved
from reactorlib.elaboration.elaborate import examine

ARGUMENTS = TARGET


def run(options: argparse.Namespace) -> Result:
    """Construct the program."""
    cls, parameters = resolved(options, structure=None)
    program, faults = examine(cls, **parameters)
    reactors, reactions = len(program.instances), len(program.reactions)
    record = {"program": cls.__name__, "reactors": reactors, "reactions": reactions, "faults": faults}
    text = f"{cls.__name__}: {reactors} reactors, {reactions} reactions, no fault"
    return Result(record, "" if faults else text, faults)

"""Report every fault of a program, without running it. With --orders, run it and find reactions that share state.

The exit code is 0 without a fault, else 1. Of very many faults the first and the last are shown; --json has all. Of a
Lingua Franca file for another target than Python, only the structure is checked.

With --orders N the program runs N times, each time with its independent reactions in another order. All runs must have
one result: the reactions that ran and what they set on ports, not what they print. Two reactions whose order changes it
are named: they share a variable, a file or a random generator.

examples:
  python -m reactorlib check examples/powers.py:Powers --set workers=8
  python -m reactorlib check examples/powers.py:Powers --json
  python -m reactorlib check examples/rl_pipeline.lf
  python -m reactorlib check examples/powers.py:Powers --orders 200 --timeout 1s
"""

from __future__ import annotations

import argparse

from reactorlib.cli.output import Result
from reactorlib.cli.target import TARGET, count_option, option, resolved, time_option
from reactorlib.elaboration.elaborate import examine

ARGUMENTS = [
    *TARGET,
    option(
        "--orders", type=count_option, metavar="N", help="the number of orders of independent reactions to run it in"
    ),
    option("--timeout", type=time_option, metavar="TIME", help="end each of these runs at this logical time"),
]


def run(options: argparse.Namespace) -> Result:
    """Construct the program, and run it if asked to."""
    cls, parameters = resolved(options, structure=False if options.orders else None)
    program, faults = examine(cls, **parameters)
    reactors, reactions = len(program.instances), len(program.reactions)
    record = {"program": cls.__name__, "reactors": reactors, "reactions": reactions, "faults": faults}
    text = f"{cls.__name__}: {reactors} reactors, {reactions} reactions, no fault"
    if faults or not options.orders:
        return Result(record, "" if faults else text, faults)
    from reactorlib.exploration import explore  # where it is asked for

    found = explore(cls, seeds=options.orders, timeout=options.timeout, **parameters)
    record |= {"orders": found.orders, "seed": found.seed, "tied": found.reactions, "differs": found.differs}
    return Result(record, f"{text}\n{found}", failed=not found.same)

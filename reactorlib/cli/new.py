"""Write a small program that runs as it is.

An existing file is left alone. The program can be run, checked, drawn and traced as it is.

examples:
  python -m reactorlib new first.py
  python -m reactorlib run first.py
  python -m reactorlib new second.py --json
"""

from __future__ import annotations

import argparse

from reactorlib.cli.output import Result, UsageError, write_file
from reactorlib.cli.target import option

_STARTER = '''\
"""A clock that counts, workers that compute, and a program that waits for all of them."""

from reactorlib import MSEC, Bank, Input, Output, Reactor, State, Timer, connect, reaction, request_stop, run


class Clock(Reactor):
    """Sends a number every 100 ms, and ends the program after five."""

    tick = Timer(period=100 * MSEC)
    number = Output[int]()
    count = State(0)

    @reaction(tick, effects=number)
    def send(self, tick: Timer, number: Output[int]) -> None:
        self.count += 1
        number.set(self.count)
        if self.count == 5:
            request_stop()


class Worker(Reactor):
    """Multiplies a number by its place in the bank, counted from 1."""

    number = Input[int]()
    result = Output[int]()

    @reaction(number, effects=result)
    def compute(self, number: Input[int], result: Output[int]) -> None:
        result.set(number.value * (self.bank_index + 1))


class Main(Reactor):
    """The program: its reactors, their connections, and a reaction to all results of a tag."""

    def __init__(self, workers: int = 3) -> None:
        self.clock = Clock()
        self.workers = Bank(Worker, workers)
        connect(self.clock.number, self.workers.number)

    @reaction("workers.result")
    def show(self, results: Input[int]) -> None:
        print([result.value for result in results])


if __name__ == "__main__":
    run(Main)
'''

ARGUMENTS = [option("file", metavar="FILE.py", help="the file to write")]


def run(options: argparse.Namespace) -> Result:
    """Write the file."""
    if not options.file.endswith(".py"):
        raise UsageError(f"{options.file}: the name of a Python file ends with .py")
    write_file(options.file, _STARTER.encode(), new=True)
    hint = f"{options.file}: written; run it with: python -m reactorlib run {options.file}"
    return Result({"file": options.file}, hint)

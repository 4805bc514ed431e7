"""`python -m reactorlib new`: a program to start from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from reactorlib.cli.output import UsageError, write_file

_EPILOG = """\
A file that is there is not written over. The program runs, and can be checked, drawn and traced, as it is.

examples:
  python -m reactorlib new first.py
  python -m reactorlib new first.lf
  python -m reactorlib new second.py --json
"""

_PYTHON = '''\
"""A clock that counts, workers that compute, a printer that waits for all of them."""

from reactorlib import MSEC, Bank, Input, Output, Reactor, Timer, connect, reaction, request_stop, run


class Clock(Reactor):
    """Sends a number every 100 ms, and ends the program after five."""

    tick = Timer(period=100 * MSEC)
    number = Output[int]()

    def __init__(self) -> None:
        self.count = 0

    @reaction(tick, effects=number)
    def send(self, tick: Timer, number: Output[int]) -> None:
        self.count += 1
        number.set(self.count)
        if self.count == 5:
            request_stop()


class Worker(Reactor):
    """Multiplies what it is sent by its place in the bank, counted from 1."""

    number = Input[int]()
    result = Output[int]()

    @reaction(number, effects=result)
    def compute(self, number: Input[int], result: Output[int]) -> None:
        result.set(number.value * (self.bank_index + 1))


class Printer(Reactor):
    """Prints all results of a tag."""

    results = Input[int](width="workers")

    def __init__(self, workers: int) -> None:
        pass

    @reaction(results)
    def show(self, results: Input[int]) -> None:
        print([result.value for result in results])


class Main(Reactor):
    """The program: what there is, and who talks to whom."""

    def __init__(self, workers: int = 3) -> None:
        self.clock = Clock()
        self.workers = Bank(Worker, workers)
        self.printer = Printer(workers)
        connect(self.clock.number, self.workers.number)
        connect(self.workers.result, self.printer.results)


if __name__ == "__main__":
    run(Main)
'''

_LINGUA_FRANCA = """\
/** A clock that counts, workers that compute, a program that waits for all of them. */
target Python { timeout: 500 ms }

reactor Clock {
  output number
  timer tick(0, 100 ms)
  state count = 0
  reaction(tick) -> number {=
    self.count += 1
    number.set(self.count)
  =}
}

reactor Worker {
  input number
  output result
  reaction(number) -> result {=
    result.set(number.value * (self.bank_index + 1))
  =}
}

main reactor Main(n = 3) {
  clock = new Clock()
  workers = new[n] Worker()
  (clock.number)+ -> workers.number
  reaction(workers.result) {=
    print([worker.result.value for worker in workers])
  =}
}
"""
_STARTERS = {".py": _PYTHON, ".lf": _LINGUA_FRANCA}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "new", help="write a program to start from",
        description="Write a small program that runs as it is, in Python or in Lingua Franca.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="name.py or name.lf")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Write the file, and say what can be done with it."""
    text = _STARTERS.get(Path(options.file).suffix)
    if text is None:
        raise UsageError(f"{options.file}: the suffix names the language, one of {', '.join(_STARTERS)}")
    write_file(options.file, text.encode(), new=True)
    if options.json:
        print(json.dumps({"file": options.file}))
    else:
        print(f"{options.file}: written; run it with: python -m reactorlib run {options.file}")
    return 0

"""What a program from Lingua Franca costs before it runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from benchmarks.interleaving import interleaved_costs
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.size import Size
from benchmarks.meter import Cost
from reactorlib import elaborate
from reactorlib.lf import load

S = 1_000_000_000
STAGE = """
reactor Stage{number}(width: int = 2, period: time = 10 ms) {{
  preamble {{=
    def scaled(self, value):
      return value * self.width
  =}}
  input[width] inp: int
  output[width] out: int
  timer t(1 ms, period)
  logical action again(1 ms): int
  state total: int = 0
  state seen: list = []
  reaction(inp) -> out, again {{=
    for port, other in zip(inp, out):
      if port.is_present:
        self.total += port.value
        other.set(self.scaled(port.value))
    again.schedule(0, self.total)
  =}}
  reaction(again) {{=
    self.seen.append(again.value)
  =}} deadline(1 sec) {{=
    self.total = 0
  =}}
}}
"""


def lingua_franca(size: Size) -> Iterator[Claim]:
    """From the text of a program to one that can run: a chain of reactors, each of its own class."""
    text = program(size.lines)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "Stages.lf")
        path.write_text(text, encoding="utf-8")
        (costs,) = interleaved_costs(size.many_repetitions, [lambda: _elaborating(path)])
    lines = text.count("\n")
    cost = [cost.cpu_ns / S for cost in costs]
    yield Claim(f"reading and elaborating {lines:,} lines of Lingua Franca", cost, "s", at_most=0.2 * lines / 1_000)


def program(lines: int) -> str:
    """A program of about so many lines."""
    stages = max(2, lines // (STAGE.count("\n") + 2))
    classes = "".join(STAGE.format(number=number) for number in range(stages))
    made = "".join(f"  s{number} = new Stage{number}(width = 3)\n" for number in range(stages))
    connected = "".join(f"  s{number}.out -> s{number + 1}.inp\n" for number in range(stages - 1))
    return f"target Python\n{classes}\nmain reactor {{\n{made}{connected}}}\n"


def _elaborating(path: Path) -> Cost:
    cpu, wall = process_time_ns(), perf_counter_ns()
    elaborate(load(path))
    return Cost(process_time_ns() - cpu, perf_counter_ns() - wall)

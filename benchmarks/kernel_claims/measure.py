"""Measures a part of the table: its costs beside each other, in blocks of turns. Judges nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.table import Cost, Row, Size
from harness.measure import block
from harness.measure.block import Effort, Measured
from harness.measure.measured_processes import Subject

_US = 1_000
_MS = 1_000_000

Found = dict[str, Measured]


def measured(rows: Sequence[Row], size: Size) -> Iterator[Claim]:
    """A claim for each row, with a figure for each block."""
    subjects = {cost.name: Subject(cost.name, cost.order, on_one_cpu=True) for row in rows for cost in row.costs}
    effort = Effort(
        size.sweeps, 3, 10.0, turn_ns=20 * _MS, lead_ns=2 * _MS, warmup_ns=20 * _MS, warmup_s=(0.2, 2.0), limit_s=300.0
    )
    blocks = [block.run(list(subjects.values()), effort, str(index)) for index in range(size.blocks)]
    for row in rows:
        yield claim(row, blocks)


def claim(row: Row, blocks: Sequence[Found]) -> Claim:
    """The result of the blocks for a row."""
    sides = [found[cost.name] for found in blocks for cost in row.costs]
    failure = next((one.failure for one in sides if one.failure), "")
    figures = [] if failure else [_figure(row, found) for found in blocks]
    return Claim(row.name, figures, "x" if row.over else "us", row.at_most, failure or row.note)


def _figure(row: Row, found: Found) -> float:
    figure = _cost_us(row.cost, found)
    return figure if row.over is None else figure / _cost_us(row.over, found)


def _cost_us(cost: Cost, found: Found) -> float:
    taken = found[cost.name].turns.values()
    times = [(turn.wall_ns if cost.wall else turn.cpu_ns) / turn.rounds for turn in taken]
    return math.exp(fmean(map(math.log, times))) / cost.per / _US

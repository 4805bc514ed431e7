"""Measures a part of the table: its paths beside each other, in blocks of turns. Judges nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from benchmarks import paths
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.table import Cost, Row, Size
from harness.measure import block
from harness.measure.block import Effort, Measured
from harness.measure.subject import Subject

_US = 1_000
_LIMIT_S = 300.0

Found = dict[str, Measured]


def measured(rows: Sequence[Row], size: Size) -> Iterator[Claim]:
    """A claim for each row, with a figure for each block."""
    costs = [cost for row in rows for cost in (row.cost, row.over, row.beyond) if cost is not None]
    subjects = {name: Subject(name, paths.order(cost.path, **cost.parameters), on_one_cpu=True)
                for cost in costs for name in [_name(cost)]}  # fmt: skip
    effort = Effort(size.sweeps, 3, 10.0, turn_ns=20_000_000, lead_ns=2_000_000, warmup_ns=20_000_000,
                    warmup_s=(0.2, 2.0), limit_s=_LIMIT_S)  # fmt: skip
    blocks = [
        {one.subject.name: one for one in block.run(list(subjects.values()), effort, str(index))}
        for index in range(size.blocks)
    ]
    for row in rows:
        yield _claim(row, blocks)


def _claim(row: Row, blocks: Sequence[Found]) -> Claim:
    sides = [cost for cost in (row.cost, row.over, row.beyond) if cost is not None]
    failure = next((found[_name(cost)].failure for found in blocks for cost in sides if found[_name(cost)].failure), "")
    figures = [] if failure else [_figure(row, found) for found in blocks]
    unit = "x" if row.over else "us"
    return Claim(row.name, figures, unit, row.at_most, row.at_least, failure or row.note)


def _figure(row: Row, found: Found) -> float:
    figure = _cost_us(row.cost, found)
    if row.beyond is not None:
        figure -= _cost_us(row.beyond, found)
    return figure if row.over is None else figure / _cost_us(row.over, found)


def _cost_us(cost: Cost, found: Found) -> float:
    taken = found[_name(cost)].turns.values()
    times = [(turn.wall_ns if cost.wall else turn.cpu_ns) / turn.rounds for turn in taken]
    return math.exp(fmean(map(math.log, times))) / cost.per / _US


def _name(cost: Cost) -> str:
    return f"{cost.path.__name__} {sorted(cost.parameters.items())}"

"""A claim: a figure over repetitions, its limit, and whether it holds. Those of the table are measured in blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Literal

from benchmarks.kernel_claims.table import Cost, Row, Size
from harness.measure import block
from harness.measure.block import Effort, Measured
from harness.measure.measured_processes import Subject
from harness.quantity import number
from harness.stats import intervals

_US = 1_000
_MS = 1_000_000

Found = dict[str, Measured]
Verdict = Literal["PASS", "OPEN", "FAIL", "INFO"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of the table. `figures` has one entry per repetition, in `unit`.

    The median is judged. Beyond the limit the claim fails if the whole interval is beyond it too, otherwise it is open.
    Without a limit the line informs. Without figures its path failed, and `note` says why.
    """

    name: str
    figures: Sequence[float]
    unit: str
    at_most: float | None = None
    note: str = ""

    @property
    def figure(self) -> float:
        return median(self.figures)

    @property
    def verdict(self) -> Verdict:
        if not self.figures:
            return "FAIL"
        if self.at_most is None:
            return "INFO"
        if self.figure <= self.at_most:
            return "PASS"
        return "OPEN" if intervals.mean(self.figures).low <= self.at_most else "FAIL"

    @property
    def cells(self) -> tuple[str, ...]:
        figures = self.figures
        return (
            self.verdict,
            self.name,
            f"{number(self.figure)} {self.unit}".rstrip() if figures else "-",
            "" if self.at_most is None else f"at most {number(self.at_most)}",
            f"{number(min(figures))} – {number(max(figures))}" if len(figures) > 1 else "",
            self.note,
        )


def lines(claims: Sequence[Claim]) -> str:
    """The claims in columns."""
    rows = [("", "claim", "median", "limit", "range", ""), *(claim.cells for claim in claims)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    text = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in text)


def measured(rows: Sequence[Row], size: Size) -> Iterator[Claim]:
    """A claim for each row of a part of the table, whose costs take turns in blocks: with a figure for each block."""
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
    return geometric_mean(turn.cpu_ns / turn.rounds for turn in taken) / cost.per / _US

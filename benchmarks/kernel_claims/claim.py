"""A claim: a figure over repetitions, its limit, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from harness.quantity import number
from harness.stats import intervals

Verdict = Literal["PASS", "OPEN", "FAIL", "INFO", "SKIP"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of the table. `figures` has one entry per repetition, in `unit`.

    The median is judged. Beyond the limit the claim fails if the whole interval is beyond it too, otherwise it is open.
    Without a limit the line informs. Without figures it was skipped, and `note` says why.
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
            return "SKIP"
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

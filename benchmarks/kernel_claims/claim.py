"""A claim: a figure over repetitions, its limit, and whether it holds. Measures nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from harness.stats import intervals

Verdict = Literal["PASS", "OPEN", "FAIL", "INFO", "SKIP"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of the table. `figures` has one entry per repetition, in `unit`; the median is judged. Beyond the limit
    it fails if the whole interval over repetitions is, and else is open.

    Without a limit the line informs; without figures it was skipped, and `note` says why.
    """

    name: str
    figures: Sequence[float]
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def figure(self) -> float:
        """The median over the repetitions."""
        return median(self.figures)

    @property
    def verdict(self) -> Verdict:
        """Whether the limit is kept."""
        if not self.figures:
            return "SKIP"
        if self.at_most is None and self.at_least is None:
            return "INFO"
        if self._keeps(self.figure):
            return "PASS"
        interval = intervals.mean(self.figures)
        return "OPEN" if self._keeps(interval.low) or self._keeps(interval.high) else "FAIL"

    def _keeps(self, figure: float) -> bool:
        at_most, at_least = self.at_most, self.at_least
        return (at_most is None or figure <= at_most) and (at_least is None or figure >= at_least)

    @property
    def limit(self) -> str:
        """The limit in words, empty without one."""
        if self.at_most is not None:
            return f"at most {shown(self.at_most)}"
        return "" if self.at_least is None else f"at least {shown(self.at_least)}"

    @property
    def share(self) -> float | None:
        """How much of the limit is used, as a ratio: below 1 it holds. None without a limit."""
        if not self.figures:
            return None
        if self.at_most is not None:
            return self.figure / self.at_most if self.at_most else None
        return None if self.at_least is None else self.at_least / self.figure

    @property
    def record(self) -> dict[str, object]:
        """The claim as plain data, for a file."""
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.figure if self.figures else None,
            "figures": list(self.figures),
            "at_most": self.at_most,
            "at_least": self.at_least,
            "verdict": self.verdict,
            "note": self.note,
        }


def shown(figure: float) -> str:
    """Three significant digits, without an exponent.

    >>> shown(0.12345), shown(12.345), shown(12345.6), shown(0)
    ('0.123', '12.3', '12,346', '0')
    """
    if figure == 0:
        return "0"
    if abs(figure) >= 100:
        return f"{figure:,.0f}"
    return f"{float(f'{figure:.3g}'):g}"


def lines(claims: Sequence[Claim]) -> str:
    """The claims in columns: verdict, name, figure, limit, share of the limit, spread, note."""
    rows = [("", "claim", "median", "limit", "of limit", "spread", "")]
    for claim in claims:
        figures = claim.figures
        share = claim.share
        rows.append(
            (
                claim.verdict,
                claim.name,
                f"{shown(claim.figure)} {claim.unit}".rstrip() if figures else "-",
                claim.limit,
                "" if share is None else f"{share:.2f}",
                f"{shown(min(figures))} – {shown(max(figures))}" if len(figures) > 1 else "",
                claim.note,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in text)

"""From pairs to findings: a first look at everything, then a second, independent one at what looks slower.

Only what both show is called a regression: a slip of one measurement, however unlikely it claims to be, is not
repeated by fresh processes some time later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.regress.pairs import Counts, calibrate, measure
from benchmarks.regress.subjects import Subject
from benchmarks.regress.trees import Trees
from harness import change, stats
from harness.change import Judgement
from harness.stats import Estimate

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much is measured: pairs of processes in the first look and in the second, and laps of each process."""

    pairs: int = 8
    confirming_pairs: int = 8
    laps: int = 16


@dataclass(frozen=True)
class Finding:
    """What became of a subject. `second` is None where the first look raised no suspicion."""

    subject: str
    first: Estimate
    second: Estimate | None
    judgement: Judgement

    @property
    def factor(self) -> Estimate:
        """How many times as long the new tree takes, as last measured."""
        return self.second or self.first


def find(
    trees: Trees, subjects: Sequence[Subject], min_effect: float, effort: Effort, tell: Tell = lambda _: None
) -> list[Finding]:
    """Measure, measure suspects again, and judge. Raises CannotCompareError."""
    counts = calibrate(trees.base, subjects)
    tell(f"{len(subjects)} subjects, {effort.pairs} pairs of processes")
    first = _look(trees, subjects, counts, effort.pairs, effort.laps)
    suspects = [one for one in subjects if change.judge(first[one.name], min_effect) is Judgement.REGRESSION]
    second: dict[str, Estimate] = {}
    if suspects:
        for one in suspects:
            tell(f"suspected: {one.name}: {change.describe(first[one.name])}; measuring it again")
        second = _look(trees, suspects, counts, effort.confirming_pairs, effort.laps)
    return [_finding(one.name, first[one.name], second.get(one.name), min_effect) for one in subjects]


def _look(trees: Trees, subjects: Sequence[Subject], counts: Counts, pairs: int, laps: int) -> dict[str, Estimate]:
    ratios = measure(trees, subjects, counts, pairs, laps)
    return {name: stats.median(values) for name, values in ratios.items()}


def _finding(name: str, first: Estimate, second: Estimate | None, min_effect: float) -> Finding:
    return Finding(name, first, second, change.judge(second or first, min_effect))

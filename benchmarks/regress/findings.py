"""From blocks of turns to findings: a first look at everything, then a second, independent one at what looks slower.

A block is the two trees' subjects in fresh processes. Only what both looks show is called a regression, and the second
with its p-values corrected for their number: a slip of one measurement, however unlikely it claims to be, is not
repeated some time later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.regress.errors import CannotCompareError
from benchmarks.regress.subjects import Compared
from benchmarks.regress.trees import Trees
from harness.measure import block
from harness.measure.subject import Subject
from harness.stats import intervals, judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import Judgement

Tell = Callable[[str], None]

LIMIT_S = 60.0
_SIDES = ("base", "new")


@dataclass(frozen=True)
class Effort:
    """How much is measured: blocks in the first look and in the second, and turns of each process in a block."""

    pairs: int = 8
    confirming_pairs: int = 8
    laps: int = 16

    @property
    def of_block(self) -> block.Effort:
        """The same, as the engine wants it."""
        lead_ns = 2_000_000  # two trees wake alike
        return block.Effort(self.laps, 3, turn_ns=20_000_000, lead_ns=lead_ns, waking_ns=lead_ns, resuming_ns=lead_ns,
                            warmup_ns=20_000_000, warmup_s=(0.2, 2.0), limit_s=LIMIT_S)  # fmt: skip


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
    trees: Trees, subjects: Sequence[Compared], min_effect: float, effort: Effort, tell: Tell = lambda _: None
) -> list[Finding]:
    """Measure, measure suspects again, and judge. Raises CannotCompareError."""
    tell(f"{len(subjects)} subjects, {effort.pairs} blocks of each")
    first = measure(trees, subjects, effort.pairs, effort)
    suspects = [one for one in subjects if judgement.judge(first[one.name], min_effect) is Judgement.REGRESSION]
    for one in suspects:
        tell(f"suspected: {one.name}: {judgement.describe(first[one.name])}; measuring it again")
    second = measure(trees, suspects, effort.confirming_pairs, effort)
    corrected = dict(zip(second, intervals.holm([factor.p_value for factor in second.values()]), strict=True))
    return [
        Finding(
            one.name,
            first[one.name],
            second.get(one.name),
            judgement.judge(second.get(one.name, first[one.name]), min_effect, corrected.get(one.name)),
        )
        for one in subjects
    ]


def measure(trees: Trees, subjects: Sequence[Compared], blocks: int, effort: Effort) -> dict[str, Estimate]:
    """By subject, how many times as long the new tree takes. Raises CannotCompareError."""
    found: dict[str, list[list[float]]] = {one.name: [] for one in subjects}
    for index in range(blocks):
        for one in subjects:
            found[one.name].append(_block(trees, one, index, effort))
    return {name: intervals.ratio_of_turns(of_blocks) for name, of_blocks in found.items()}


def _block(trees: Trees, one: Compared, index: int, effort: Effort) -> list[float]:
    sides = [
        Subject(side, one.order, tree=tree, on_one_cpu=one.one_process)
        for side, tree in zip(_SIDES, (trees.base, trees.new), strict=True)
    ]
    base, new = block.run(sides, effort.of_block, f"{one.name} {index}")
    for side in (base, new):
        if side.failure:
            raise CannotCompareError(f"{side.subject.name}: {one.name}: {side.failure}")
    if base.digest != new.digest:
        raise CannotCompareError(f"{one.name} computes something else than in base: its digest differs")
    return block.log_ratios(new, base)

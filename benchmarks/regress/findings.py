"""From blocks of turns to findings: a first look at everything, then a second, independent one at what looks slower.

A block is the two trees' subjects in fresh processes. The second look decides, its p-values corrected for their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmarks.regress.trees import Trees
from harness.errors import UsageError
from harness.measure import block
from harness.measure.measured_processes import Subject
from harness.plan.presets import TRIALS
from harness.stats import intervals, judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import Judgement

Tell = Callable[[str], None]

_MS = 1_000_000
# Short turns and leads, for two trees wake alike. Processes wake on one processor, and part after some milliseconds.
EFFORT = block.Effort(
    16, 3, turn_ns=20 * _MS, lead_ns=2 * _MS, waking_ns=20 * _MS, resuming_ns=20 * _MS, warmup_ns=20 * _MS,
    warmup_s=(0.2, 2.0), limit_s=60.0,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """The finding for a subject. `second` is None where the first look raised no suspicion."""

    subject: str
    first: Estimate
    second: Estimate | None
    judgement: Judgement

    @property
    def factor(self) -> Estimate:
        """How many times as long the new tree takes, as last measured."""
        return self.second or self.first


def find(
    trees: Trees, subjects: Sequence[Subject], min_effect: float, blocks: int = TRIALS, tell: Tell = lambda _: None
) -> list[Finding]:
    """Measure, measure suspects again, and judge. Raises UsageError."""
    tell(f"{len(subjects)} subjects, {blocks} blocks of each")
    first = measure(trees, subjects, blocks)
    suspects = [one for one in subjects if first[one.name].value > 1 + min_effect]
    for one in suspects:
        tell(f"suspected: {one.name}: {judgement.describe(first[one.name])}; measuring it again")
    second = measure(trees, suspects, blocks)
    corrected = dict(zip(second, intervals.holm([factor.p_value for factor in second.values()]), strict=True))
    return [
        Finding(name, factor, again, judgement.judge(again or factor, min_effect, corrected.get(name)))
        for name, factor in first.items()
        for again in [second.get(name)]
    ]


def measure(trees: Trees, subjects: Sequence[Subject], blocks: int) -> dict[str, Estimate]:
    """By subject, how many times as long the new tree takes. Raises UsageError."""
    found: dict[str, list[list[float]]] = {one.name: [] for one in subjects}
    for index in range(blocks):
        for one in subjects:
            found[one.name].append(_block(trees, one, index))
    return {name: intervals.ratio_of_turns(of_blocks) for name, of_blocks in found.items()}


def _block(trees: Trees, one: Subject, index: int) -> list[float]:
    sides = [replace(one, name="base", tree=trees.base), replace(one, name="new", tree=trees.new)]
    base, new = block.run(sides, EFFORT, f"{one.name} {index}").values()
    for side in (base, new):
        if side.failure:
            raise UsageError(f"{side.subject.name}: {one.name}: {side.failure}")
    if base.digest != new.digest:
        raise UsageError(f"{one.name} computes something else than in base: its digest differs")
    return block.log_ratios(new, base)

"""From blocks of turns to findings: a first look at everything, then a second, independent one at what looks slower.

A block is the two trees' subjects in fresh processes. The second look decides, its p-values corrected for their number.
A subject that fails in a tree, or computes something else in it, has no verdict, and the others are still judged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmarks.regress.trees import Trees
from harness.measure import block
from harness.measure.block import Measured
from harness.measure.measured_processes import Subject
from harness.plan.presets import TRIALS
from harness.stats import intervals, judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import Judgement
from harness.store.status import UNSUPPORTED

Tell = Callable[[str], None]

_MS = 1_000_000
# Short turns and leads, for two trees wake alike. Processes wake on one processor, and part after some milliseconds.
EFFORT = block.Effort(
    16, 3, turn_ns=20 * _MS, lead_ns=2 * _MS, waking_ns=20 * _MS, resuming_ns=20 * _MS, warmup_ns=20 * _MS,
    warmup_s=(0.2, 2.0), limit_s=60.0,
)  # fmt: skip


class NoVerdictError(Exception):
    """A subject that cannot be compared."""

    def __init__(self, judgement: Judgement, reason: str) -> None:
        super().__init__(reason)
        self.judgement = judgement


@dataclass(frozen=True)
class Finding:
    """The finding for a subject. `factor`: how many times as long the new tree takes, as last measured.

    It is None where nothing could be compared, for this `reason`. `again`: whether it was measured a second time.
    """

    subject: str
    judgement: Judgement
    factor: Estimate | None = None
    again: bool = False
    reason: str = ""

    @property
    def words(self) -> str:
        """The factor, or the reason why there is none."""
        return judgement.describe(self.factor) if self.factor else self.reason


def find(
    trees: Trees, subjects: Sequence[Subject], min_effect: float, blocks: int = TRIALS, tell: Tell = lambda _: None
) -> list[Finding]:
    """Measure, measure suspects again, and judge, in the order of the subjects."""
    tell(f"{len(subjects)} subjects, {blocks} blocks of each")
    first, lost = measure(trees, subjects, blocks)
    suspects = [one for one in subjects if one.name in first and first[one.name].value > 1 + min_effect]
    for one in suspects:
        tell(f"suspected: {one.name}: {judgement.describe(first[one.name])}; measuring it again")
    second, lost_later = measure(trees, suspects, blocks)
    corrected = dict(zip(second, intervals.holm([factor.p_value for factor in second.values()]), strict=True))
    found = []
    for name in (one.name for one in subjects):
        if (fault := lost.get(name) or lost_later.get(name)) is not None:
            found.append(Finding(name, fault.judgement, reason=str(fault)))
            continue
        factor = second.get(name) or first[name]
        concluded = judgement.judge(factor, min_effect, corrected.get(name))
        found.append(Finding(name, concluded, factor, name in second))
    return found


def measure(
    trees: Trees, subjects: Sequence[Subject], blocks: int
) -> tuple[dict[str, Estimate], dict[str, NoVerdictError]]:
    """By subject, how many times as long the new tree takes, or why nobody knows."""
    found: dict[str, list[list[float]]] = {one.name: [] for one in subjects}
    lost: dict[str, NoVerdictError] = {}
    for index in range(blocks):
        for one in subjects:
            if one.name not in lost:
                try:
                    found[one.name].append(_block(trees, one, index))
                except NoVerdictError as fault:
                    lost[one.name] = fault
    sound = {name: of_blocks for name, of_blocks in found.items() if name not in lost}
    return {name: intervals.ratio_of_turns(of_blocks) for name, of_blocks in sound.items()}, lost


def _block(trees: Trees, one: Subject, index: int) -> list[float]:
    """The log ratios of the turns of a block. Raises NoVerdictError."""
    sides = [replace(one, name="base", tree=trees.base), replace(one, name="new", tree=trees.new)]
    base, new = block.run(sides, EFFORT, f"{one.name} {index}").values()
    _check_sound(base, new)
    if base.digest != new.digest:
        raise NoVerdictError(Judgement.OTHER_DIGEST, "it computes something else than in base")
    return block.log_ratios(new, base)


def _check_sound(base: Measured, new: Measured) -> None:
    """Raise NoVerdictError where a side has failed, or is not supported. A subject that works in base has to work."""
    if base.failure.startswith(UNSUPPORTED) and (not new.failure or new.failure.startswith(UNSUPPORTED)):
        raise NoVerdictError(Judgement.NOT_MEASURED, base.failure.removeprefix(UNSUPPORTED))
    if new.failure:
        raise NoVerdictError(Judgement.FAILED, new.failure)
    if base.failure:
        raise NoVerdictError(Judgement.UNDECIDED, f"it fails in base: {base.failure}")

"""The rules by which a ratio is called faster, slower or undecided, and a change a regression.

A factor says how many times as long the new side takes: 1.15 is 15 % slower, whatever the metric was.
"""

from collections.abc import Collection
from enum import Enum

from harness.stats.intervals import CONFIDENCE, Estimate

# The smallest change that counts as one. With it `regress` finds a slowdown of 15 % in at least 18 of 20 attempts.
MIN_EFFECT = 0.07
FASTER, SLOWER, UNDECIDED, TOO_FEW = "faster", "slower", "undecided", "too few starts"


def standing(ratio: Estimate, floor: float) -> str:
    """How a ratio is called. `floor`: the factor below which a difference is noise."""
    if not ratio.decides:
        return TOO_FEW
    if 1 / floor < ratio.value < floor or ratio.low <= 1 <= ratio.high:
        return UNDECIDED
    return FASTER if ratio.value > 1 else SLOWER


class Judgement(Enum):
    """The conclusion about a factor, or why there is none."""

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    UNCHANGED = "unchanged"
    UNDECIDED = "undecided"
    OTHER_DIGEST = "other digest"  # it computes something else than before
    FAILED = "failed"  # and did not before
    NOT_MEASURED = "not measured"  # as it was not possible before


WITHOUT_ANSWER = (Judgement.FAILED, Judgement.OTHER_DIGEST, Judgement.UNDECIDED, Judgement.NOT_MEASURED)
ALLOWED = {"undecided": Judgement.UNDECIDED, "digests": Judgement.OTHER_DIGEST}
_SKIP = 125  # `git bisect run` passes over a commit with this status


def exit_status(found: Collection[Judgement], allowed: Collection[str] = ()) -> int:
    """The exit status of a gate that found these: 0 no regression, 1 a regression, 2 a failure or nothing measured.

    It is 125 where something is undecided or computes something else, except for what is `allowed`: keys of ALLOWED.
    """
    if Judgement.REGRESSION in found:
        return 1
    if Judgement.FAILED in found or all(one is Judgement.NOT_MEASURED for one in found):
        return 2
    open_ones = {judgement for word, judgement in ALLOWED.items() if word not in allowed}
    return _SKIP if open_ones.intersection(found) else 0


def judge(factor: Estimate, min_effect: float, p_value: float | None = None) -> Judgement:
    """A change is larger than the minimum effect, and its interval excludes no change.

    `p_value`: corrected for the number of factors judged at once, instead of the interval.

    UNDECIDED where neither is shown and the interval reaches a regression all the same. A minimum effect of 0.1 is
    a factor of 1.1, or of 1 / 1.1.
    """
    largest = 1 + min_effect
    differs = not factor.low <= 1 <= factor.high if p_value is None else p_value < 1 - CONFIDENCE
    if differs:
        if factor.value > largest:
            return Judgement.REGRESSION
        if factor.value < 1 / largest:
            return Judgement.IMPROVEMENT
    return Judgement.UNDECIDED if factor.high > largest else Judgement.UNCHANGED


def describe(factor: Estimate) -> str:
    """A factor in words: `15 % slower [12 %, 18 %]`. Less than zero per cent slower is faster."""
    word, told = ("slower", factor) if factor.value >= 1 else ("faster", factor.inverse())
    return f"{_percent(told.value)} {word} [{_percent(told.low)}, {_percent(told.high)}]"


def _percent(factor: float) -> str:
    return f"{(factor - 1) * 100:z.{1 if abs(factor - 1) < 0.1 else 0}f} %"

"""The output of `compare`: lines, a table for a page, or JSON."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness import quantity
from harness.report import markdown
from harness.report.run_changes import Change
from harness.report.text_table import TextTable
from harness.stats import judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import Judgement
from harness.store.finished_run import FinishedRun

_WORST = Judgement.REGRESSION.value
_COLUMNS = ("workload", "backend", "against", "before", "now", "change", "verdict")
_ORDER = (Judgement.REGRESSION, Judgement.IMPROVEMENT, Judgement.UNCERTAIN, Judgement.UNCHANGED)


def lines(changes: Sequence[Change], min_effect: float) -> list[str]:
    """One line for each regression, or one that says there is none."""
    found = [f"regression: {_line(one)}" for one in changes if one.judgement is Judgement.REGRESSION]
    return found or [conclusion(changes, min_effect)]


def conclusion(changes: Sequence[Change], min_effect: float) -> str:
    """All of it in one sentence."""
    counts = Counter(one.judgement for one in changes)
    slower = counts[Judgement.REGRESSION]
    verdict = f"{slower} regressions" if slower > 1 else "1 regression" if slower else "no regression"
    text = f"{verdict} of more than {min_effect:.0%} in {len(changes)} ratios"
    if counts[Judgement.IMPROVEMENT]:
        text += f", {counts[Judgement.IMPROVEMENT]} improved"
    if counts[Judgement.UNCERTAIN]:
        text += f"; {counts[Judgement.UNCERTAIN]} too uncertain to exclude one: more --trials"
    return text


def _line(one: Change) -> str:
    ratios = f"{_times(one.after)} that of {one.baseline}, was {_times(one.before)}"
    alone = f"alone: {one.backend} takes x{one.own:.2f}, {one.baseline} x{one.other:.2f}"
    return (
        f"{one.workload} {one.label}: {one.backend} is {judgement.describe(one.factor)}: its speed is {ratios}; {alone}"
    )


def _times(estimate: Estimate) -> str:
    return f"{quantity.number(estimate.value)}x"


def as_markdown(base: FinishedRun, new: FinishedRun, changes: Sequence[Change], min_effect: float) -> str:
    """A table, the worst first."""
    ordered = sorted(changes, key=lambda one: (_ORDER.index(one.judgement), -one.factor.value))
    rows = tuple(
        (f"{one.workload} {one.label}", one.backend, one.baseline, _times(one.before), _times(one.after),
         judgement.describe(one.factor), one.judgement.value.replace(_WORST, f"**{_WORST}**"))
        for one in ordered
    )  # fmt: skip
    origin = f"`{new.commit[:12]}` against `{base.commit[:12]}`"
    return "\n".join(
        (
            f"### {conclusion(changes, min_effect)}",
            f"{origin}; ratios were measured inside each run, in turns; their intervals hold 95 %.\n",
            markdown.markdown_table(TextTable("", _COLUMNS, rows)),
        )
    )


def as_json(base: FinishedRun, new: FinishedRun, changes: Sequence[Change], min_effect: float) -> dict[str, Any]:
    """For programs."""
    return {
        "base": {"path": str(base.path), "commit": base.commit},
        "new": {"path": str(new.path), "commit": new.commit},
        "min_effect": min_effect,
        "regressions": sum(one.judgement is Judgement.REGRESSION for one in changes),
        "changes": [dataclasses.asdict(one) | {"judgement": one.judgement.value} for one in changes],
    }

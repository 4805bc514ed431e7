"""The doubts that are printed beside a number."""

from collections.abc import Sequence

from harness.plan.presets import TRIALS
from harness.stats import intervals
from harness.store.trial_records import TrialRecord

ENOUGH_TRIALS = TRIALS
WIDE_SPREAD = 0.10
# Other processes' share of the cores allowed from which on they are taken to slow the trial.
LOADED_SHARE = 0.10
PASSES_CEILING = "passes ceiling"
# The meaning of those that a reader sees most, by the words that each begins with.
MEANINGS = {
    "spread": f"standard deviation over {100 * WIDE_SPREAD:.0f} % of the mean",
    "loaded": f"other processes kept more than {100 * LOADED_SHARE:.0f} % of the cores busy during a trial",
    "unsteady": "a trial's warm-up ended by its limit of time, so rounds may have become shorter later",
    PASSES_CEILING: "the whole interval is faster than the reference ceiling, which was therefore measured too slow",
}


def doubts(values: Sequence[float], trials: Sequence[TrialRecord], cores: int | None) -> list[str]:
    """The doubts about the mean of these values, one for each trial, each in a few words.

    `trials`: where they are known. `cores`: as many as were allowed.
    """
    found = []
    if len(values) < ENOUGH_TRIALS:
        found.append("1 trial" if len(values) == 1 else f"{len(values)} trials")
    spread = intervals.variation(values)
    if spread > WIDE_SPREAD:
        found.append(f"spread {spread:.0%}")
    outside_cores = max((one.outside_cores for one in trials), default=0.0)
    if cores and outside_cores > LOADED_SHARE * cores:
        found.append(f"loaded {outside_cores:.1f}/{cores} cores")
    if any(one.steady is False for one in trials):
        found.append("unsteady")
    return found

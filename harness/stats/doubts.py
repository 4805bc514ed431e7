"""The doubts that are printed beside a number."""

from collections.abc import Sequence

from harness.plan.presets import TRIALS
from harness.stats import intervals
from harness.store.trial_records import TrialRecord

ENOUGH_TRIALS = TRIALS
WIDE_SPREAD = 0.10
# Other processes' share of the machine's cores from which on they are taken to slow the trial.
LOADED_SHARE = 0.10
SHORT_NS = 100_000_000


def doubts(values: Sequence[float], trials: Sequence[TrialRecord], cores: int | None) -> list[str]:
    """The doubts about the mean of these values, one for each trial, each in a few words.

    `trials`: where they are known. `cores`: the machine's.
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
    measured_ns = min((one.measured_ns for one in trials if one.measured_ns is not None), default=SHORT_NS)
    if measured_ns < SHORT_NS:
        found.append(f"short {measured_ns / 1e6:.2g} ms")
    if any(one.steady is False for one in trials):
        found.append("unsteady")
    return found


# The meaning of those that a reader sees most.
MEANINGS = {
    "spread": f"standard deviation over {100 * WIDE_SPREAD:.0f} % of the mean",
    "loaded": f"other processes kept more than {100 * LOADED_SHARE:.0f} % of the cores busy during a trial",
    "unsteady": "a trial's warm-up ended by its limit of time, so rounds may have become shorter later",
    "passes ceiling": "the whole interval is faster than the reference ceiling, which was therefore measured too slow",
}
BEATS_LIMIT = "beats the ceiling"
# A doubt in a word or two, by its first word.
KINDS = {
    "spread": "spread", "loaded": "loaded", "short": "short turns", "unsteady": "unsteady", "beats": "passes ceiling",
}  # fmt: skip

"""The doubts that are printed beside a number."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan.presets import TRIALS
from harness.stats import intervals

ENOUGH_TRIALS = TRIALS
WIDE_SPREAD = 0.10
# Other processes' share of the machine's cores from which on they are taken to slow the trial.
LOADED_SHARE = 0.10
SHORT_NS = 100_000_000
# A time of this many ticks of the clock is known to about 5 %.
ENOUGH_TICKS = 20


@dataclass(frozen=True)
class Conditions:
    """Under which a number came about; None where it isn't known.

    `outside_cores`: the most cores that other processes kept busy in one of its trials. `measured_ns`: the
    shortest measured time of a trial. `round_ns`: the median round. `tick_ns`: the clock's.
    """

    cores: int | None = None
    outside_cores: float | None = None
    measured_ns: float | None = None
    round_ns: float | None = None
    tick_ns: float | None = None


def doubts(values: Sequence[float], circumstances: Conditions) -> list[str]:
    """The doubts about the mean of these values, each in a few words."""
    found = []
    if len(values) < ENOUGH_TRIALS:
        found.append("1 trial" if len(values) == 1 else f"{len(values)} trials")
    spread = intervals.variation(values)
    if spread > WIDE_SPREAD:
        found.append(f"spread {spread:.0%}")
    given = circumstances
    if given.cores and given.outside_cores is not None and given.outside_cores > LOADED_SHARE * given.cores:
        found.append(f"loaded {given.outside_cores:.1f}/{given.cores} cores")
    if given.measured_ns is not None and given.measured_ns < SHORT_NS:
        found.append(f"short {given.measured_ns / 1e6:.2g} ms")
    if given.round_ns is not None and given.tick_ns and given.round_ns < ENOUGH_TICKS * given.tick_ns:
        found.append(f"clock ticks {given.tick_ns:.0f} ns")
    return found


DOUBTS_EXPLAINED = (
    f"Doubts: 'N trials': fewer than {ENOUGH_TRIALS}; 'spread': standard deviation over {WIDE_SPREAD:.0%} "
    f"of the mean; 'loaded': other processes kept more than {LOADED_SHARE:.0%} of the cores busy during a "
    "trial (beside Ray some of them are Ray's own, which ended unseen); 'short': less than "
    f"{SHORT_NS / 1e6:.0f} ms were measured in a trial; 'clock ticks': a round is shorter than {ENOUGH_TICKS} ticks of "
    "the clock; 'beats the ceiling': by its whole interval faster than the reference ceiling, which was therefore "
    "measured too slow."
)
BEATS_LIMIT = "beats the ceiling"
# A doubt in a word or two, by its first word.
KINDS = {
    "spread": "spread",
    "loaded": "loaded",
    "short": "short turns",
    "clock": "coarse clock",
    "beats": "passes ceiling",
}

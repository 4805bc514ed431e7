"""What entitles a number to be believed: equal digests, and the doubts that are printed beside it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness import stats
from harness.record import Row, TrialKey

REFERENCE_BACKEND = "serial"
ENOUGH_TRIALS = 4
WIDE_SPREAD = 0.10
# Other processes' share of the machine's cores from which on they are taken to slow the trial.
LOADED_SHARE = 0.10
SHORT_NS = 100_000_000
# A time of this many ticks of the clock is known to about 5 %.
ENOUGH_TICKS = 20

_DIGEST_CHARACTERS = 8
_DIFFERS = "digest differs: "


def disagreements(rows: Iterable[Row]) -> dict[TrialKey, str]:
    """Trials whose digest isn't that of their point, each with the reason.

    The point's digest is the one of the serial backend's first trial, or else the one that most backends
    agree on; where there is neither, every trial of the point disagrees. Failed rows and rows without a
    digest don't count.
    """
    by_point: dict[tuple[str, str], dict[TrialKey, str]] = {}
    for row in rows:
        if row.ok and row.digest:
            by_point.setdefault(row.point, {})[row.trial_key] = row.digest
    found: dict[TrialKey, str] = {}
    for digests in by_point.values():
        found |= _disagreements_of_point(digests)
    return found


def is_disagreement(status: str) -> bool:
    """Whether a row's status is one of the reasons that `disagreements` gives."""
    return status.startswith(_DIFFERS)


def _disagreements_of_point(digests: Mapping[TrialKey, str]) -> dict[TrialKey, str]:
    first: dict[str, str] = {}
    for (_, _, backend, _), digest in sorted(digests.items(), key=lambda item: item[0][3]):
        first.setdefault(backend, digest)
    if REFERENCE_BACKEND in first:
        expected, whose = first[REFERENCE_BACKEND], f"{REFERENCE_BACKEND} has"
    else:
        expected, votes = Counter(first.values()).most_common(1)[0]
        whose = "most backends have"
        if votes * 2 <= len(first):
            opinions = ", ".join(f"{backend} {_short(digest)}" for backend, digest in sorted(first.items()))
            return dict.fromkeys(digests, f"{_DIFFERS}no majority among {opinions}")
    return {
        key: f"{_DIFFERS}{_short(digest)}, {whose} {_short(expected)}"
        for key, digest in digests.items()
        if digest != expected
    }


def _short(digest: str) -> str:
    # A digest has two parts, of the verified run and of the timed one's final state: either may differ.
    return "-".join(part[:_DIGEST_CHARACTERS] for part in digest.split("-"))


@dataclass(frozen=True)
class Circumstances:
    """Under which a number came about; None where it isn't known.

    `outside_cores`: the most cores that other processes kept busy in one of its trials. `measured_ns`: the
    shortest measured time of a trial. `round_ns`: the median round. `tick_ns`: the clock's.
    """

    cores: int | None = None
    outside_cores: float | None = None
    measured_ns: float | None = None
    round_ns: float | None = None
    tick_ns: float | None = None


def doubts(values: Sequence[float], circumstances: Circumstances) -> list[str]:
    """What speaks against relying on the mean of these values, each in a few words."""
    found = []
    if len(values) < ENOUGH_TRIALS:
        found.append("1 trial" if len(values) == 1 else f"{len(values)} trials")
    spread = stats.variation(values)
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
    "the clock; 'beats the limit': by its whole interval faster than what nothing should pass, which was therefore "
    "measured too slow."
)
BEATS_LIMIT = "beats the limit"

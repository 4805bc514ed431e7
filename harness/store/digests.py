"""Whether all trials of a point computed the same: the digests of its rows are compared."""

from collections import Counter
from collections.abc import Iterable, Mapping

from harness.grouping import grouped
from harness.plan.grid import TrialKey
from harness.store.measurement_table import Measurement
from harness.store.trial_records import TrialRecord

REFERENCE_BACKEND = "serial"

_DIFFERS = "digest differs: "


def disagreements(rows: Iterable[Measurement | TrialRecord]) -> dict[TrialKey, str]:
    """Trials whose digest isn't that of their point, each with the reason. Failed rows don't count.

    The point's digest is that of the serial backend's first trial, or else the one that most backends agree on. Where
    there is neither, every trial of the point disagrees.
    """
    found: dict[TrialKey, str] = {}
    for own in grouped((row for row in rows if row.ok and row.digest), lambda row: row.point).values():
        found |= _of_point({row.trial_key: row.digest for row in own})
    return found


def is_disagreement(status: str) -> bool:
    """Whether a row's status is one of the reasons that `disagreements` gives."""
    return status.startswith(_DIFFERS)


def _of_point(digests: Mapping[TrialKey, str]) -> dict[TrialKey, str]:
    first: dict[str, str] = {}
    for key, digest in sorted(digests.items(), key=lambda item: item[0].trial):
        first.setdefault(key.backend, digest)
    if REFERENCE_BACKEND in first:
        expected, whose = first[REFERENCE_BACKEND], f"{REFERENCE_BACKEND} has"
    else:
        expected, votes = Counter(first.values()).most_common(1)[0]
        whose = "most backends have"
        if votes * 2 <= len(first):
            opinions = ", ".join(f"{backend} {digest[:8]}" for backend, digest in sorted(first.items()))
            return dict.fromkeys(digests, f"{_DIFFERS}no majority among {opinions}")
    return {key: f"{_DIFFERS}{own[:8]}, {whose} {expected[:8]}" for key, own in digests.items() if own != expected}

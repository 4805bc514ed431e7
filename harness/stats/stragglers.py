"""How much later than the others the last worker lane of a round ends, of a run whose rounds were taken apart."""

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from harness.store.phase_table import PhaseRow

LANES, STRAGGLER, LAG, LAG_95 = "lanes", "straggler", "lag", "lag_p95"
UNITS = {LANES: "lanes", STRAGGLER: "part of rounds", LAG: "part of a round", LAG_95: "part of a round"}
COLUMNS = ("straggler", "lag")
EXPLAINED = (
    "'straggler': in which part of the rounds the lane that most often ended its computing last did so; even would be "
    "one part of as many as there are lanes. A lane is an actor of Ray's, a worker process or a thread, however many "
    "workers it holds. 'lag': how much later the last lane ended than the median lane (of an even number the earlier "
    "of the two), as a part of the round: the mean, and what 95 % of the rounds do not exceed."
)


class Stragglers(NamedTuple):
    """The number of lanes that computed, the part of the rounds with the most frequent last lane, and its lag. The
    lag is how far the last lane is behind the median one, as a part of the round.
    """

    lanes: float
    share: float
    lag: float
    lag_p95: float

    @property
    def cells(self) -> tuple[str, str]:
        """As `COLUMNS`; of a single lane there is nothing to tell."""
        if self.lanes < 2:
            return "-", "-"
        return f"{self.share:.0%} of {self.lanes:.0f}", f"{self.lag:.0%}, 95 %: {self.lag_p95:.0%}"


def medians(rows: Iterable[PhaseRow]) -> dict[tuple[tuple[str, str], str], Stragglers]:
    """Over trials, by point and backend, where all four are known."""
    values: dict[tuple[tuple[str, str], str], dict[str, list[float]]] = {}
    for row in rows:
        if row.phase in UNITS and row.value is not None:
            values.setdefault((row.point, row.backend), {}).setdefault(row.phase, []).append(row.value)
    return {
        key: Stragglers(*(median(of_phase[name]) for name in UNITS))
        for key, of_phase in values.items()
        if of_phase.keys() == UNITS.keys()
    }

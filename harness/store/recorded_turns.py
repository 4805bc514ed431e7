"""`turns.csv.gz` of a run's directory: every turn of every trial."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.plan.grid import TrialKey
from harness.store.row import Count, OfTrial, Positive, Text
from harness.store.table import Table


@dataclass(frozen=True)
class RecordedTurn(OfTrial):
    """A turn. The fields are the columns, in their order.

    `copy`: 0, or 1 for a second subject of the same backend, by which the run measures its own noise. `sweep`: turns
    of one sweep are neighbours. `position`: in the sweep. `rounds`: the number of timed rounds, with their `wall_ns`
    and their `cpu_ns` as in `measure.turn.Turn`.
    """

    workload: Text
    parameters: Text
    backend: Text
    trial: Count
    copy: Count
    sweep: Count
    position: Count
    rounds: Positive
    wall_ns: Positive
    cpu_ns: Count

    @property
    def key(self) -> tuple[TrialKey, int, int]:
        """Subject and sweep, in which it takes one turn."""
        return self.trial_key, self.copy, self.sweep


TURNS = Table("turns.csv.gz", RecordedTurn, "restore the file, or measure into another directory", "key")


class RecordedTurns:
    """The turns of a run, by point, backend and copy."""

    def __init__(self, rows: Iterable[RecordedTurn]) -> None:
        self._taken: dict[tuple[str, str, int], dict[int, dict[int, RecordedTurn]]] = {}
        for row in rows:
            self._taken.setdefault((row.point, row.backend, row.copy), {}).setdefault(row.trial, {})[row.sweep] = row

    def of(self, point: str, backend: str, copy: int = 0) -> Mapping[int, Mapping[int, RecordedTurn]]:
        """The turns of a backend at a point, by trial and sweep."""
        return self._taken.get((point, backend, copy), {})

"""`turns.csv.gz` of a run's directory: every turn of every trial, and ratios of turns that were neighbours."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from harness.plan.grid import runs_alone
from harness.store.row import Count, OfTrial, Positive, Text
from harness.store.table import Table
from workloads.catalogue import BACKENDS


@dataclass(frozen=True)
class RecordedTurn(OfTrial):
    """A turn. The fields are the columns, in their order.

    `copy`: 0, or 1 for a second subject of the same backend, by which the run measures its own noise. `sweep`: turns
    of one sweep are neighbours. `position`: in the sweep. `rounds`: how many rounds were timed; their `wall_ns`, and
    their `cpu_ns` as in `measure.turn.Turn`.
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
    cpu_ns: int

    def round_ns(self, by_cpu: bool = False) -> float:
        """Time of a round."""
        return (self.cpu_ns if by_cpu else self.wall_ns) / self.rounds


TURNS = Table("turns.csv.gz", RecordedTurn, "restore the file, or measure into another directory")


class RecordedTurns:
    """The turns of a run, by what they are of: point, backend and copy."""

    def __init__(self, rows: Iterable[RecordedTurn]) -> None:
        self._taken: dict[tuple[tuple[str, str], str, int], dict[int, dict[int, RecordedTurn]]] = {}
        for row in rows:
            key = (row.workload, row.parameters), row.backend, row.copy
            self._taken.setdefault(key, {}).setdefault(row.trial, {})[row.sweep] = row

    def log_ratios(
        self,
        point: tuple[str, str],
        above: tuple[str, int],
        below: tuple[str, int],
        trials: Iterable[int] | None = None,
        less: tuple[float, float] = (0.0, 0.0),
    ) -> list[list[float]]:
        """By trial, the log ratios of neighbouring turns' times of a round of two subjects: backend and copy. Where
        each of them runs alone (see `grid`), their CPU times.

        `trials`: those that count, if not all. `less`: ns of each one's round that don't count; nothing, where a round
        has no more.
        """
        over, under = (self._taken.get((point, *subject), {}) for subject in (above, below))
        parameters = json.loads(point[1])
        by_cpu = all(name in BACKENDS and runs_alone(parameters, BACKENDS[name]) for name, _ in (above, below))
        found = []
        for trial in sorted(over.keys() & under.keys() & set(over if trials is None else trials)):
            pairs = [(over[trial][sweep], under[trial][sweep]) for sweep in sorted(over[trial].keys() & under[trial])]
            times = [(a.round_ns(by_cpu) - less[0], b.round_ns(by_cpu) - less[1]) for a, b in pairs]
            if any(less) and min(map(min, times), default=1.0) <= 0:
                return []
            if logs := [math.log(a / b) for a, b in times if a and b]:
                found.append(logs)
        return found

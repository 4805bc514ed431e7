"""A forecast of how long trials take, from how long trials took before. Measures nothing."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from harness.errors import UsageError
from harness.plan.grid import Grid, Point, Trial
from harness.store.trial_records import TRIALS, TrialRecord

Key = tuple[str, ...]

_UNKNOWN_SECONDS = 5.0
_NEWEST_RUNS = 10
_SHIPPED = Path(__file__).resolve().parents[2] / "results"


class Forecast:
    """How long trials will take. Trials that are `added` count before those of earlier runs.

    `grid`: of the run, in which some trials have a copy. `source`: where the durations come from, in a few words.
    """

    def __init__(self, grid: Grid | None = None, before: Iterable[TrialRecord] = (), source: str = "a guess") -> None:
        self.source, self._grid = source, grid
        self._own, self._before = defaultdict[Key, list[float]](list), defaultdict[Key, list[float]](list)
        for one in before:
            for key in _keys(one, one.backend):
                self._before[key].append(one.duration_s)

    def add(self, trial: Trial, duration_s: float) -> None:
        for key in _keys(trial.point, trial.backend):
            self._own[key].append(duration_s)

    def seconds(self, trials: Iterable[Trial]) -> float:
        """How long these will take one after the other."""
        return sum(self._one(trial) for trial in trials)

    def _one(self, trial: Trial) -> float:
        known = (
            took[key] for key in _keys(trial.point, trial.backend) for took in (self._own, self._before) if key in took
        )
        once = fmean(next(known, [_UNKNOWN_SECONDS]))
        return 2 * once if self._grid and trial.backend in self._grid.repeated(trial.point) else once


def here(grid: Grid, runs: Path) -> Forecast:
    """The forecast of a run, from the newest runs below a directory, or else from those of the checkout."""
    newest = sorted(runs.glob("*/"), key=lambda run: run.stat().st_mtime)[-_NEWEST_RUNS:]
    if found := _trials(newest):
        return Forecast(grid, found, "as runs here took")
    return Forecast(grid, _trials(_SHIPPED.glob("*/")), "as they took on another machine")


def _trials(runs: Iterable[Path]) -> list[TrialRecord]:
    """The trials of these runs, without those of broken files."""
    found: list[TrialRecord] = []
    for run in runs:
        with contextlib.suppress(UsageError):
            found += TRIALS.read(run)
    return found


def _keys(point: Point | TrialRecord, backend: str) -> tuple[Key, ...]:
    """The properties that a trial shares with others, from the most to the least specific."""
    return (point.workload, point.parameters, backend), (point.workload, backend), (backend,), ()

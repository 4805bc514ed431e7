"""How long a run will take, by how long trials took: in the same run, or else in runs before it. Measures nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.errors import UsageError
from harness.grouping import grouped
from harness.plan.grid import Block, Grid, Point, Trial
from harness.store.trial_records import TRIALS, TrialRecord

Key = tuple[str, ...]

_UNKNOWN_SECONDS = 5.0
_NEWEST_RUNS = 10
_SHIPPED = Path(__file__).resolve().parents[2] / "results"


class Durations:
    """How long trials took, from the most that is known of a trial to the least."""

    def __init__(self) -> None:
        self._sums: defaultdict[Key, float] = defaultdict(float)
        self._counts: Counter[Key] = Counter()

    def add(self, workload: str, parameters: str, backend: str, duration_s: float) -> None:
        """A trial took so long."""
        for key in _keys(workload, parameters, backend):
            self._sums[key] += duration_s
            self._counts[key] += 1

    def mean(self, key: Key) -> float | None:
        """Of the trials that a key stands for; None where there were none."""
        count = self._counts[key]
        return self._sums[key] / count if count else None


@dataclass
class Budget:
    """The time of a run, after which no further block begins, if it has one; how long the last block of each point
    took by now, and which blocks were left out.
    """

    limit_s: float | None = None
    taken_s: dict[Point, float] = field(default_factory=dict)
    left_out: list[Block] = field(default_factory=list)

    def allows(self, block: Block, spent_s: float) -> bool:
        """Whether a block runs once so much of the time has passed: the first of its point in any case, another if the
        last of its point, or else the longest of all, would still end in time.
        """
        needed_s = self.taken_s.get(block[0].point, max(self.taken_s.values(), default=0.0))
        return self.limit_s is None or not block[0].index or spent_s + needed_s <= self.limit_s


class Forecast:
    """How long trials will take. What was `added` in the same run counts before what `runs` before it took.

    `grid`: of the run, which has some trials twice. `source`: whose durations those are, in a few words.
    """

    def __init__(self, grid: Grid | None = None, runs: Iterable[Path] = (), source: str = "a guess") -> None:
        self.source = source
        self._grid = grid
        self._own, self._before = Durations(), Durations()
        known = [trial for run in runs for trial in _trials(run)]
        self.knows = bool(known)
        for detail in known:
            self._before.add(detail.workload, detail.parameters, detail.backend, detail.duration_s)

    def add(self, trial: Trial, duration_s: float) -> None:
        """A trial of this run took so long."""
        self._own.add(trial.point.workload, trial.point.parameters, trial.backend, duration_s)

    def seconds(self, trials: Iterable[Trial]) -> float:
        """How long these will take one after the other."""
        return sum(self._one(trial) for trial in trials)

    def _one(self, trial: Trial) -> float:
        keys = _keys(trial.point.workload, trial.point.parameters, trial.backend)
        known = (durations.mean(key) for key in keys for durations in (self._own, self._before))
        once = next((seconds for seconds in known if seconds is not None), _UNKNOWN_SECONDS)
        return 2 * once if self._grid and trial.backend in self._grid.repeated(trial.point) else once

    def within(self, trials: Sequence[Trial], budget: Budget, spent_s: float = 0.0) -> tuple[int, float]:
        """How many of these a run gets through, of whose budget so much is spent, and how long they take."""
        count, left_s, ahead = 0, 0.0, replace(budget, taken_s=dict(budget.taken_s))
        for block in map(tuple, grouped(trials, lambda trial: (trial.point, trial.index)).values()):
            if block not in budget.left_out and ahead.allows(block, spent_s + left_s):
                count += len(block)
                left_s += ahead.taken_s.setdefault(block[0].point, self.seconds(block))
        return count, left_s


def here(grid: Grid, runs: Path) -> Forecast:
    """Of a run, from the newest of the runs below a directory; where there are none, from those of the checkout."""
    newest = sorted(runs.glob("*/"), key=lambda run: run.stat().st_mtime)[-_NEWEST_RUNS:]
    found = Forecast(grid, newest, "as runs here took")
    return found if found.knows else Forecast(grid, _SHIPPED.glob("*/"), "as they took on another machine")


def _trials(run: Path) -> list[TrialRecord]:
    """The trials of a run, none where its file is broken."""
    try:
        return TRIALS.read(run)
    except UsageError:
        return []


def _keys(workload: str, parameters: str, backend: str) -> tuple[Key, ...]:
    return (workload, parameters, backend), (workload, backend), (backend,), ()

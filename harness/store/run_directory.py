"""A results directory: the files that belong into it, and the process that may write there.

Owns the refusals. Nothing that a run left behind is ever overwritten, and rows of two grids or two machines
never meet in one file.
"""

import contextlib
import fcntl
import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.plan.grid import Block, Description, Grid, Trial, differences
from harness.store import digests, interpreters, machine, status
from harness.store.files import read_json, write_json
from harness.store.measurement_table import MEASUREMENTS, Measurement, derived
from harness.store.recorded_turns import TURNS, RecordedTurn
from harness.store.trial_records import TRIALS, TrialRecord
from workloads.parameter import ParameterError

# Interpreters that the command line names; the others are where the suite's targets install them.
Given = Mapping[str, str | None]
GRID_NAME = "grid.json"
EXPECTED = "expected the results of `harness run`"
_ANEW = "have `harness run --resume` write the file anew"
_ROUNDING = 1e-9  # between two versions of Python's mathematics
_OTHER = "choose another --output"
_ANOTHER = f"restore it, or {_OTHER}"
_OWN = (MEASUREMENTS.file_name, machine.FILE_NAME, GRID_NAME)


@dataclass
class RunDirectory:
    """The files of a run. `rows` follow from `trials` and `turns`. `interpreters`: their paths (see there).

    Trials that failed are left out when it is reopened, to run again. The cause may have passed: a machine out of
    memory, a time limit, a mistake since corrected. A trial that its backend doesn't support stays. So does one whose
    digest was wrong: a second attempt would hide that.
    """

    path: Path
    run_id: str
    grid: Grid
    machine: dict[str, Any]
    interpreters: Mapping[str, str]
    trials: list[TrialRecord] = field(default_factory=list)
    turns: list[RecordedTurn] = field(default_factory=list)
    rows: list[Measurement] = field(default_factory=list)

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def missing(self) -> list[Trial]:
        """The trials of all blocks in which one is missing, in the order in which they will run.

        A block runs as a whole, because its ratios are of neighbouring turns.
        """
        lacking = {trial.key for trial in missing(self.grid, self.trials)}
        return [one for block in self.grid.blocks() if any(one.key in lacking for one in block) for one in block]

    def add(self, trials: Sequence[TrialRecord], turns: Sequence[RecordedTurn]) -> None:
        """Keep a block's trials and turns, in place of those that its trials have.

        A trial whose digest was wrong stays: it ran, and a second attempt would hide that.
        """
        wrong = {one.trial_key for one in self.trials if digests.is_disagreement(one.status)}
        added = {one.trial_key for one in trials} - wrong
        self.turns = [turn for turn in self.turns if turn.trial_key not in added]
        self.turns += [turn for turn in turns if turn.trial_key in added]
        kept = [one for one in self.trials if one.trial_key not in added]
        self.replace_trials([*kept, *(one for one in trials if one.trial_key in added)])

    def replace_trials(self, trials: Sequence[TrialRecord]) -> None:
        """Put other trials in place of all, and write the files.

        An interruption leaves turns whose trial is missing. They are dropped when the run is resumed.
        """
        self.trials = list(trials)
        self.rows = list(derived(self.run_id, self.grid.points, self.trials, self.turns))
        TURNS.write(self.path, self.turns)
        TRIALS.write(self.path, self.trials)
        MEASUREMENTS.write(self.path, self.rows)

    def settle_without(self, left_out: Sequence[Block]) -> bool:
        """Have each point of the grid end before the first of its blocks that was left out. `left_out`: in the order in
        which they run. False, and no change, if a later block has been measured.
        """
        ends = {first.point: first.index for first, *_ in reversed(left_out)}
        present = {one.trial_key for one in self.trials}
        if any(one.key in present and one.index >= ends.get(one.point, math.inf) for one in self.grid.trials()):
            return False
        points = tuple(replace(point, trials=ends.get(point, point.trials)) for point in self.grid.points)
        self.grid = replace(self.grid, points=points)
        self.write_grid()
        return True

    def write_grid(self) -> None:
        write_json(self.path / GRID_NAME, {"run_id": self.run_id, **self.grid.describe()})

    def begin_session(self, session: Mapping[str, Any]) -> None:
        """Record a call of the harness, and write all files."""
        self.machine.setdefault("sessions", []).append(dict(session))
        self.write_grid()
        write_json(self.path / machine.FILE_NAME, self.machine)
        self.replace_trials(self.trials)


@contextlib.contextmanager
def create(path: Path, run_id: str, grid: Grid, session: Mapping[str, Any], given: Given) -> Iterator[RunDirectory]:
    """A new directory, or an existing one without measurements, locked against other runs. Raises UsageError.

    `given`: interpreters, by name.
    """
    found = interpreters.find(grid.backends, given)
    path.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        if present := [name for name in _OWN if (path / name).exists()]:
            raise UsageError(f"{path} already holds {present[0]}; add --resume to complete that run, or {_OTHER}")
        made = RunDirectory(path, run_id, grid, machine.describe(found), found)
        made.begin_session(session)
        yield made


@contextlib.contextmanager
def reopen(
    path: Path, grid: Grid | None, trials: int | None, given: Given, session: Mapping[str, Any]
) -> Iterator[RunDirectory]:
    """The directory of a run, to be completed, locked against other runs. Raises UsageError unless everything fits.

    `grid`: the one asked for, or None to take the directory's own. `trials`: how many of each point there shall be, at
    least as many as there are, or None for these.
    """
    with _locked(path):
        found = _interrupted(path, grid, trials, given)
        found.begin_session(session)
        yield found


def inspect(path: Path, grid: Grid | None, trials: int | None, given: Given) -> RunDirectory:
    """The run that `reopen` would go on with. Refuses the same, and writes nothing."""
    with _locked(path):
        return _interrupted(path, grid, trials, given)


def _interrupted(path: Path, grid: Grid | None, trials: int | None, given: Given) -> RunDirectory:
    run_id, stored = stored_grid(path, _ANOTHER)
    described = machine.read(path / machine.FILE_NAME, _ANOTHER)
    if trials is not None:
        most = max(point.trials for point in stored.points)
        if trials < most:
            raise UsageError(f"{path} has {most} trials of a point; expected --trials {most} or more to add to them")
        stored, grid = stored.with_trials(trials), grid and grid.with_trials(trials)
    paths = interpreters.find(stored.backends, given)
    here = machine.describe(paths)
    if differing := differences(stored, grid or stored):
        raise UsageError(f"{path} holds another grid ({differing}); repeat its command line, or {_OTHER}")
    if differing := machine.differences(described, here):
        raise UsageError(f"{path} is from another machine ({differing}); {_OTHER}")
    found, turns = TRIALS.read(path), TURNS.read(path)
    _check_trials(path / TRIALS.file_name, found, stored, _OTHER)
    measured = {turn.trial_key for turn in turns}
    found = [one for one in found if not one.ok or one.trial_key in measured]
    kept = [one for one in found if not one.is_failure or digests.is_disagreement(one.status)]
    present = {one.trial_key for one in kept}
    turns = [turn for turn in turns if turn.trial_key in present]
    return RunDirectory(path, run_id, stored, described, paths, kept, turns)


def recorded(path: Path) -> tuple[Grid | None, list[Measurement], list[TrialRecord], list[RecordedTurn]]:
    """The grid of a run, if it is there, its rows, trials and turns. Raises UsageError where they do not agree.

    The rows follow from the trials and turns, if these are there: a run may have been killed before it wrote its rows.
    """
    rows, trials, turns = MEASUREMENTS.read(path), TRIALS.read(path), TURNS.read(path)
    if not rows:
        raise UsageError(f"{path / MEASUREMENTS.file_name}: holds no rows; {EXPECTED}")
    if not (path / GRID_NAME).exists():
        return None, rows, trials, turns
    run_id, grid = stored_grid(path)
    for table, found in ((MEASUREMENTS, rows), (TRIALS, trials)):
        _check_trials(path / table.file_name, found, grid, "remove the line or restore it")
    if trials and turns:
        _check_turns(path, trials, turns)
        written, rows = rows, list(derived(run_id, grid.points, trials, turns))
        _check_values(path, written, {row.key: row.value for row in rows})
    return grid, rows, trials, turns


def _check_trials(file: Path, rows: Iterable[TrialRecord | Measurement], grid: Grid, remedy: str) -> None:
    known = {trial.key for trial in grid.trials()}
    for number, one in enumerate(rows, start=2):
        if one.trial_key not in known:
            raise UsageError(f"{file}, line {number}: a trial of another grid ({one.trial_key}); {remedy}")


def _check_turns(path: Path, trials: Iterable[TrialRecord], turns: Iterable[RecordedTurn]) -> None:
    measured = {turn.trial_key for turn in turns if not turn.copy}
    for number, one in enumerate(trials, start=2):
        if one.ok and one.trial_key not in measured:
            place = f"{path / TRIALS.file_name}, line {number}"
            raise UsageError(f"{place}: a trial without turns in {TURNS.file_name}; {TURNS.remedy}")


def _check_values(path: Path, rows: Iterable[Measurement], values: Mapping[Hashable, float | None]) -> None:
    for number, row in enumerate(rows, start=2):
        value = values.get(row.key)
        if not math.isclose(row.value or 0.0, value or 0.0, rel_tol=_ROUNDING):
            place, told = f"{path / MEASUREMENTS.file_name}, line {number}", f"the {row.metric} {row.value}"
            raise UsageError(f"{place}: {told} is {value} by {TURNS.file_name}; restore them, or {_ANEW}")


def missing(grid: Grid, rows: Sequence[TrialRecord | Measurement]) -> list[Trial]:
    """The trials of the grid that are in no row."""
    present = {row.trial_key for row in rows}
    return [trial for trial in grid.trials() if trial.key not in present]


def holds_run(path: Path) -> bool:
    """Whether a run has left anything in the directory."""
    return any((path / name).exists() for name in _OWN)


def stored_grid(path: Path, remedy: str = EXPECTED) -> tuple[str, Grid]:
    """The id and the grid of the run in a directory. Raises UsageError, which ends with the remedy."""
    stored = read_json(path / GRID_NAME, Description, remedy)
    try:
        return stored["run_id"], Grid.restore(stored)
    except ParameterError as error:
        reason = status.one_line(str(error))
        raise UsageError(f"{path / GRID_NAME} describes no grid of this version ({reason}); {remedy}") from None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(f"{path}: another run is writing there; wait or choose another --output") from None
    finally:
        os.close(descriptor)

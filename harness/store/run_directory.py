"""A results directory: what belongs into it, and who may write there.

Owns the refusals. Nothing that a run left behind is ever overwritten, and rows of two grids or two machines
never meet in one file.
"""

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.plan.grid import SCHEMA, Block, Description, Grid, Trial, differences
from harness.store import digests, machine, measurements, recorded_turns, status, trial_records
from harness.store.measurements import Journal, Measurement
from workloads.parameter import ParameterError

GRID_NAME = "grid.json"
LOGS_NAME = "logs"
EXPECTED = "expected the results of `harness run`"
_ANOTHER = "restore it, or choose another --output"
_OWN = (measurements.FILE_NAME, machine.FILE_NAME, GRID_NAME)


@dataclass
class RunDirectory:
    """An open directory, locked against other runs."""

    path: Path
    run_id: str
    grid: Grid
    rows: list[Measurement]
    journal: Journal

    @property
    def logs(self) -> Path:
        """Where the failed trials' output is kept."""
        return self.path / LOGS_NAME

    def missing(self) -> list[Trial]:
        """The trials that will run."""
        return to_run(self.grid, self.rows)

    def add(
        self, rows: list[Measurement], found: list[trial_records.TrialRecord], taken: list[recorded_turns.RecordedTurn]
    ) -> None:
        """Keep a block's rows, details and turns, instead of what there is of its trials."""
        for detail in found:
            trial_records.append(self.path / trial_records.FILE_NAME, detail)
        wrong = {row.trial_key for row in self.rows if digests.is_disagreement(row.status)}
        rows = [row for row in rows if row.trial_key not in wrong]  # which did run, and a second time hides nothing
        measured = {row.trial_key for row in rows}
        recorded_turns.replace(
            self.path / recorded_turns.FILE_NAME, measured, [turn for turn in taken if turn.trial_key not in wrong]
        )
        kept = [row for row in self.rows if row.trial_key not in measured]
        if len(kept) < len(self.rows):
            self.replace_rows([*kept, *rows])
        else:
            self.journal.append(rows)
            self.rows.extend(rows)

    def settle_without(self, left_out: Sequence[Block]) -> bool:
        """Have each point of the grid end before the first of its blocks that is among these, which are in the order in
        which they run; not where a later one has rows.
        """
        ends = {first.point: first.index for first, *_ in reversed(left_out)}
        present = {row.trial_key for row in self.rows}
        if any(one.key in present and one.index >= ends.get(one.point, math.inf) for one in self.grid.trials()):
            return False
        points = tuple(replace(point, trials=ends.get(point, point.trials)) for point in self.grid.points)
        self.grid = replace(self.grid, points=points)
        _write_json(self.path / GRID_NAME, {"run_id": self.run_id, **self.grid.describe()})
        return True

    def replace_rows(self, rows: list[Measurement]) -> None:
        """Put other rows in place of all."""
        self.journal.rewrite(rows)
        self.rows[:] = rows

    def note_gil(self, backend: str, enabled: bool) -> None:
        """Record whether the GIL is on once everything that a backend needs is imported."""
        path = self.path / machine.FILE_NAME
        described = machine.read(path, _ANOTHER)
        known = described.setdefault("gil_enabled_after_imports", {})
        if known.get(backend) != enabled:
            known[backend] = enabled
            _write_json(path, described)


@contextlib.contextmanager
def create(path: Path, run_id: str, grid: Grid, session: Mapping[str, Any]) -> Iterator[RunDirectory]:
    """A new directory, or an existing one without measurements; raises UsageError."""
    with contextlib.ExitStack() as stack:
        with _writable(path):
            path.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_locked(path))
            present = [name for name in _OWN if (path / name).exists()]
            if present:
                raise UsageError(
                    f"{path} already holds {present[0]}; add --resume to complete that run, or choose another --output"
                )
            _write_json(path / GRID_NAME, {"run_id": run_id, **grid.describe()})
            _write_json(path / machine.FILE_NAME, {**machine.describe(), "sessions": [dict(session)]})
            journal = stack.enter_context(contextlib.closing(Journal.create(path / measurements.FILE_NAME)))
        yield RunDirectory(path, run_id, grid, [], journal)


@contextlib.contextmanager
def reopen(path: Path, grid: Grid | None, trials: int | None, session: Mapping[str, Any]) -> Iterator[RunDirectory]:
    """The directory of a run, to be completed; raises UsageError unless everything fits.

    `grid`: the one asked for, or None to take the directory's own. `trials`: how many of each point there shall be, at
    least as many as there are, or None for these. A torn last row is removed.
    """
    with contextlib.ExitStack() as stack:
        with _writable(path):
            stack.enter_context(_locked(path))
            run_id, stored, described, rows = _interrupted(path, grid, trials)
            measurements.repair(path / measurements.FILE_NAME)
            if trials is not None:
                _write_json(path / GRID_NAME, {"run_id": run_id, **stored.describe()})
            described.setdefault("sessions", []).append(dict(session))
            _write_json(path / machine.FILE_NAME, described)
            journal = stack.enter_context(contextlib.closing(Journal(path / measurements.FILE_NAME)))
        yield RunDirectory(path, run_id, stored, rows, journal)


def inspect(path: Path, grid: Grid | None, trials: int | None) -> tuple[Grid, list[Measurement]]:
    """The grid and the rows that `reopen` would go on with; refuses what that refuses, and writes nothing."""
    with _writable(path), _locked(path):
        _, stored, _, rows = _interrupted(path, grid, trials)
        return stored, rows


def _interrupted(
    path: Path, grid: Grid | None, trials: int | None
) -> tuple[str, Grid, dict[str, Any], list[Measurement]]:
    """Id, grid, description and rows of the run in a directory; raises UsageError unless everything fits."""
    run_id, stored = stored_grid(path, _ANOTHER)
    described = machine.read(path / machine.FILE_NAME, _ANOTHER)
    if trials is not None:
        most = max(point.trials for point in stored.points)
        if trials < most:
            raise UsageError(f"{path} has {most} trials of a point; expected --trials {most} or more to add to them")
        try:
            stored, grid = stored.with_trials(trials), grid and grid.with_trials(trials)
        except ParameterError as error:
            raise UsageError(str(error)) from None
    _check_same(path, stored, grid, described)
    rows = measurements.read(path / measurements.FILE_NAME)
    _check_members(path, rows, stored)
    return run_id, stored, described, rows


def missing(grid: Grid, rows: Sequence[Measurement]) -> list[Trial]:
    """The trials of the grid that lack a row."""
    present = {row.key for row in rows}
    return [
        trial for trial in grid.trials() if any((*trial.key, metric) not in present for metric in trial.point.units)
    ]


def to_run(grid: Grid, rows: Sequence[Measurement]) -> list[Trial]:
    """The trials of all blocks in which one lacks a row, in the order in which they will run: a block runs as a whole,
    for its ratios are of turns that its trials took beside each other.
    """
    lacking = {trial.key for trial in missing(grid, rows)}
    return [trial for block in grid.blocks() if any(one.key in lacking for one in block) for trial in block]


def holds_run(path: Path) -> bool:
    """Whether a run has left anything in the directory."""
    return any((path / name).exists() for name in _OWN)


def stored_grid(path: Path, remedy: str = EXPECTED) -> tuple[str, Grid]:
    """The id and the grid of the run in a directory; raises UsageError, which ends with the remedy."""
    stored = measurements.read_object(path / GRID_NAME, Description, remedy)
    try:
        return stored["run_id"], Grid.restore(stored)
    except (KeyError, ParameterError) as error:
        reason = status.one_line(str(error))
        raise UsageError(f"{path / GRID_NAME} describes no grid of this version ({reason}); {remedy}") from None


def _check_same(path: Path, stored: Grid, grid: Grid | None, described: Mapping[str, Any]) -> None:
    differing = differences(stored, grid or replace(stored, schema=SCHEMA))
    if differing:
        raise UsageError(
            f"{path} holds another grid ({differing}); repeat its command line, or choose another --output"
        )
    differing = machine.differences(described, machine.describe())
    if differing:
        raise UsageError(f"{path} is from another machine ({differing}); choose another --output")


def _check_members(path: Path, rows: list[Measurement], grid: Grid) -> None:
    expected = {trial.key for trial in grid.trials()}
    for number, row in enumerate(rows, start=2):
        if row.trial_key not in expected:
            raise UsageError(
                f"{path / measurements.FILE_NAME}, line {number}: a row of another grid "
                f"({row.workload} {row.backend} trial {row.trial}); choose another --output"
            )


@contextlib.contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}; choose another --output") from None


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


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    measurements.write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())

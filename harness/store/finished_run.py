"""A finished run, as a comparison needs it: complete, unbroken, of one machine and one commit.

`report` shows whatever a run has. A comparison ends in a verdict, so that nothing missing, failed or foreign may pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.plan.grid import Grid
from harness.store import digests, machine, run_directory
from harness.store.measurements import MEASUREMENTS, Measurement


@dataclass(frozen=True)
class FinishedRun:
    """The rows of a run, with what they were measured on."""

    path: Path
    run_id: str
    grid: Grid
    machine: Mapping[str, Any]
    rows: tuple[Measurement, ...]

    @property
    def commit(self) -> str:
        """The commit of the code; "unknown" where the code was in no repository."""
        return str(self.machine["sessions"][0].get("commit") or "unknown")


def load(path: Path) -> FinishedRun:
    """The run in a directory; raises UsageError, in one line, for anything that speaks against judging by it."""
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory; expected the results of `harness run`")
    described = _machine(path)
    run_id, grid = run_directory.stored_grid(path)
    rows = _rows(path, run_id, grid)
    return FinishedRun(path, run_id, grid, described, rows)


def _machine(path: Path) -> dict[str, Any]:
    described = machine.read(path / machine.FILE_NAME, run_directory.EXPECTED)
    sessions = described.get("sessions")
    if not sessions:
        raise UsageError(
            f"{path / machine.FILE_NAME}: says nothing of the sessions; expected what `harness run` writes"
        )
    for name in ("commit", "dirty", "variables"):
        told = [session.get(name) for session in sessions]
        if any(one != told[0] for one in told):
            raise UsageError(f"{path}: its sessions differ in {name} ({_both(told)}); measure it anew in one go")
    return described


def _both(told: list[Any]) -> str:
    return " and ".join(str(one) for one in (told[0], next(one for one in told if one != told[0])))


def _rows(path: Path, run_id: str, grid: Grid) -> tuple[Measurement, ...]:
    file = path / MEASUREMENTS.file_name
    rows = MEASUREMENTS.read(path)
    expected = {(*trial.key, metric) for trial in grid.trials() for metric in trial.point.units}
    for number, row in enumerate(rows, start=2):
        if row.run_id != run_id:
            raise UsageError(f"{file}, line {number}: a row of run {row.run_id}, among those of {run_id}")
        if row.key not in expected:
            where = f"{row.workload} {row.backend} trial {row.trial} {row.metric}"
            raise UsageError(f"{file}, line {number}: a row of another grid ({where})")
    if len(rows) < len(expected):
        missing = len(expected) - len(rows)
        raise UsageError(f"{file}: {missing} of {len(expected)} rows are missing; complete the run with --resume")
    failed = {row.trial_key: row.status for row in rows if row.is_failure} | digests.disagreements(rows)
    if failed:
        (workload, _, backend, trial), status = next(iter(failed.items()))
        raise UsageError(f"{file}: {len(failed)} trials failed, the first {workload} {backend} trial {trial}: {status}")
    return tuple(rows)

"""A finished run, as a comparison needs it: complete, unbroken, of one machine and one commit.

`report` shows whatever a run has. A comparison ends in a verdict, so that nothing missing, failed or foreign may pass.
"""

from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.plan.grid import Grid
from harness.report.summary import Summary, summarise
from harness.store import machine, run_directory
from harness.store.measurement_table import MEASUREMENTS


@dataclass(frozen=True)
class FinishedRun(Summary):
    """The summary of such a run, with its grid."""

    grid: Grid

    @property
    def commit(self) -> str:
        """The commit of the code; "unknown" where the code was in no repository."""
        return str(self.machine["sessions"][0].get("commit") or "unknown")


def load(path: Path) -> FinishedRun:
    """The run in a directory. Raises UsageError, in one line, for anything that speaks against judging by it."""
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory; expected the results of `harness run`")
    sessions = machine.read(path / machine.FILE_NAME, run_directory.EXPECTED).get("sessions")
    if not sessions:
        raise UsageError(f"{path / machine.FILE_NAME}: names no session; expected what `harness run` writes")
    for name in ("commit", "dirty", "variables"):
        first = sessions[0].get(name)
        other = next((one.get(name) for one in sessions if one.get(name) != first), first)
        if other != first:
            raise UsageError(f"{path}: its sessions differ in {name} ({first} and {other}); measure it anew in one go")
    run_id, grid = run_directory.stored_grid(path)
    found = FinishedRun(**vars(summarise(path)), grid=grid)
    _check_rows(found, run_id)
    return found


def _check_rows(found: FinishedRun, run_id: str) -> None:
    file, rows = found.path / MEASUREMENTS.file_name, found.rows
    expected = {(*trial.key, metric) for trial in found.grid.trials() for metric in trial.point.units}
    for number, row in enumerate(rows, start=2):
        if row.run_id != run_id or row.key not in expected:
            where = f"run {row.run_id}, {row.workload} {row.backend} trial {row.trial} {row.metric}"
            raise UsageError(f"{file}, line {number}: a row of another run or grid ({where}), in that of run {run_id}")
    if len(rows) < len(expected):
        missing = len(expected) - len(rows)
        raise UsageError(f"{file}: {missing} of {len(expected)} rows are missing; complete the run with --resume")
    failed = {row.trial_key: row.status for row in rows if row.is_failure}
    if failed:
        (workload, _, backend, trial), status = next(iter(failed.items()))
        raise UsageError(f"{file}: {len(failed)} trials failed, the first {workload} {backend} trial {trial}: {status}")

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
        if any(one.get(name) != sessions[0].get(name) for one in sessions):
            raise UsageError(f"{path}: its sessions differ in {name}; measure it anew in one go")
    _, grid = run_directory.stored_grid(path)
    found = FinishedRun(**vars(summarise(path)), grid=grid)
    _check_rows(found)
    return found


def _check_rows(found: FinishedRun) -> None:
    file, rows = found.path / MEASUREMENTS.file_name, found.rows
    expected = {(*trial.key, metric) for trial in found.grid.trials() for metric in trial.point.units}
    if expected != (present := {row.key for row in rows}):
        lacking = f"of the {len(expected)} rows of its grid {len(expected - present)} are missing"
        raise UsageError(f"{file}: {lacking}; complete the run with --resume")
    failed = {row.trial_key: row.status for row in rows if row.is_failure}
    if failed:
        (workload, _, backend, trial), status = next(iter(failed.items()))
        raise UsageError(f"{file}: {len(failed)} trials failed, the first {workload} {backend} trial {trial}: {status}")

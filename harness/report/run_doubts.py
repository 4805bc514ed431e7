"""Doubts about a whole run: how it was measured, and what it lacks."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.store import run_directory
from harness.store.measurement_table import Measurement


def of_run(described: Mapping[str, Any]) -> Iterator[str]:
    """Doubts from the machine's description: several commits, changed code, a loaded machine."""
    sessions = described.get("sessions", [])
    commits = {session.get("commit") for session in sessions}
    if len(commits) > 1:
        yield f"the rows come from {len(commits)} commits of the code"
    if any(session.get("dirty") for session in sessions):
        yield "the code had uncommitted changes"
    cores = described.get("cores_allowed", 0)
    load = max(((session.get("load_average") or [0.0])[0] for session in sessions), default=0.0)
    if cores and load > cores:
        yield f"the machine was loaded when the run began ({load:.1f} on {cores} cores)"


def of_grid(path: Path, rows: Sequence[Measurement]) -> Iterator[str]:
    """The trials of its grid that a run lacks."""
    if (path / run_directory.GRID_NAME).exists():
        _, grid = run_directory.stored_grid(path)
        missing = len(run_directory.missing(grid, rows))
        if missing:
            are = "is" if missing == 1 else "are"
            yield f"{missing} of {grid.size} trials {are} missing: complete the run with --resume"

"""CSV files beside a run's measurements: how they are written, and that they are not overwritten. Knows no columns."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.record import write_atomically

Cell = str | int | float | bool | None
_WORDS = {True: "true", False: "false", None: ""}


def check_absent(path: Path, what: str) -> None:
    """Raise UsageError where the file is there already; `what` would write it."""
    if path.exists():
        raise UsageError(f"{path} exists; remove it to {what} anew")


def write(path: Path, columns: Sequence[str], rows: Iterable[Iterable[Cell]]) -> None:
    """Put these rows in place of all, atomically; None is an empty cell. Raises OSError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_WORDS[cell] if cell is None or isinstance(cell, bool) else cell for cell in row] for row in rows)
    write_atomically(path, text.getvalue().encode())

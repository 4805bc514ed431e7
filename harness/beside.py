"""CSV files beside a run's measurements: written, read, and not overwritten. Knows no columns."""

import csv
import io
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from harness.errors import UsageError
from harness.record import write_atomically

Cell = str | int | float | bool | None
_Row = TypeVar("_Row")
_WORDS = {True: "true", False: "false", None: ""}


def check_absent(path: Path, what: str) -> None:
    """Raise UsageError where the file is there already, or can't be; `what` would write it."""
    if path.exists():
        raise UsageError(f"{path} exists; remove it to {what} anew")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; make its directory one that can be written to") from None


def write(path: Path, columns: Sequence[str], rows: Iterable[Iterable[Cell]]) -> None:
    """Put these rows in place of all, atomically; None is an empty cell. Raises OSError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_WORDS[cell] if cell is None or isinstance(cell, bool) else cell for cell in row] for row in rows)
    write_atomically(path, text.getvalue().encode())


def read(path: Path, columns: Sequence[str], parse: Callable[[Mapping[str, str]], _Row], command: str) -> list[_Row]:
    """The rows of a file that `harness <command>` writes, none where it isn't there. Raises UsageError.

    `parse`: makes a row of a line, given by column; raises KeyError, TypeError or ValueError for what is none.
    """
    remedy = f"remove the file, or write it anew with `harness {command}`"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            header, lines = reader.fieldnames, list(reader)
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: not readable ({reason}); {remedy}") from None
    if header is None or tuple(header) != tuple(columns):
        raise UsageError(f"{path}, line 1: not the columns of this version; {remedy}")
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            rows.append(parse(line))
        except (KeyError, TypeError, ValueError):
            raise UsageError(f"{path}, line {number}: not a row of this version; {remedy}") from None
    return rows

"""CSV files beside a run's measurements: written, read, and not overwritten. Knows no columns."""

import csv
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from harness.errors import UsageError
from harness.store.measurements import write_atomically

_Row = TypeVar("_Row")
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class CsvTable(Generic[_Row]):
    """A file that `harness <command>` writes into a run's directory.

    `kind`: the dataclass of the rows, whose fields are the columns, in their order; a cell may be empty where its
    field may be None. `what`: for what the file is written. `valid`: whether what was read is a row; may raise
    ValueError.
    """

    file_name: str
    kind: Callable[..., _Row]
    command: str
    what: str
    valid: Callable[[_Row], bool] = lambda _: True

    @property
    def columns(self) -> tuple[str, ...]:
        """The header."""
        return tuple(signature(self.kind).parameters)

    def check_absent(self, directory: Path) -> None:
        """Raise UsageError where the file is there already, or can't be."""
        path = directory / self.file_name
        if path.exists():
            raise UsageError(f"{path} exists; remove it to {self.what} anew")
        try:
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; make its directory one that can be written to") from None

    def write(self, directory: Path, rows: Sequence[_Row]) -> None:
        """Put these rows in place of all, atomically; None is an empty cell. Raises OSError."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        cells = ([getattr(row, name) for name in self.columns] for row in rows)
        writer.writerows([str(one).lower() if isinstance(one, bool) else one for one in line] for line in cells)
        write_atomically(directory / self.file_name, text.getvalue().encode())

    def read(self, directory: Path) -> list[_Row]:
        """The rows of a directory, none where it has no such file; raises UsageError for a broken one."""
        path = directory / self.file_name
        remedy = f"remove the file, or write it anew with `harness {self.command}`"
        try:
            with path.open(newline="", encoding="utf-8") as file:
                header, *lines = [line for line in csv.reader(file, strict=True) if line] or [[]]
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"{path}: not readable ({reason}); {remedy}") from None
        if tuple(header) != self.columns:
            raise UsageError(f"{path}, line 1: not the columns of this version; {remedy}")
        rows = []
        for number, line in enumerate(lines, start=2):
            try:
                rows.append(self._parse(line))
            except (KeyError, TypeError, ValueError):
                raise UsageError(f"{path}, line {number}: not a row of this version; {remedy}") from None
        return rows

    def _parse(self, line: Sequence[str]) -> _Row:
        kinds = get_type_hints(self.kind)
        row = self.kind(*(_value(kinds[name], text) for name, text in zip(self.columns, line, strict=True)))
        if not self.valid(row):
            raise ValueError(row)
        return row


def _value(kind: Any, text: str) -> Any:
    """What a cell says; `kind`: the type of its field."""
    kinds = get_args(kind) or (kind,)
    if not text and NoneType in kinds:
        return None
    return _TRUTHS[text] if kinds[0] is bool else kinds[0](text)

"""A CSV file of rows in a run's directory: written atomically, and checked as it is read. Knows no columns."""

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from pathlib import Path
from types import NoneType
from typing import Generic, TypeVar, get_args, get_type_hints

import msgspec

from harness.errors import UsageError
from harness.store.files import explained, write_atomically

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class Table(Generic[_Row]):
    """A file whose columns are the fields of a dataclass, in their order. An empty cell is None where a field may be.

    `file_name`: compressed if it ends in .gz. `row`: the dataclass, whose types and bounds msgspec checks, and whose
    `__post_init__` may raise ValueError. `remedy`: for a broken file. `key`: the property that no two rows may share.
    `derived`: a property that is written as the last column. It follows from the others: it is not read, and a file
    may lack it.
    """

    file_name: str
    row: type[_Row]
    remedy: str
    key: str = ""
    derived: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self._fields, *filter(None, [self.derived]))

    @property
    def _fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields_of(self.row))  # type: ignore[arg-type]

    def check_absent(self, directory: Path) -> None:
        """Raise UsageError where the file exists or can't be written."""
        path = directory / self.file_name
        if path.exists():
            raise UsageError(f"{path} exists; remove it to measure anew")
        if not os.access(directory, os.W_OK):
            raise UsageError(f"{path}: cannot be written; make its directory one that can be written to")

    def write(self, directory: Path, rows: Iterable[_Row]) -> None:
        """Put these rows in place of all, atomically. Raises OSError."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_cell(getattr(row, name)) for name in self.columns] for row in rows)
        data = text.getvalue().encode()
        write_atomically(directory / self.file_name, gzip.compress(data, mtime=0) if self._compressed else data)

    def read(self, directory: Path) -> list[_Row]:
        """The rows of a directory, none where the file is missing. Raises UsageError for a broken file."""
        path = directory / self.file_name
        try:
            data = path.read_bytes()
            text = (gzip.decompress(data) if self._compressed else data).decode("utf-8-sig")  # as others save it
            header, *lines = list(csv.reader(io.StringIO(text, newline=""), strict=True)) or [[]]
        except FileNotFoundError:
            return []
        except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise UsageError(f"{path}: not readable ({reason}); {self.remedy}") from None
        if tuple(header) not in (self.columns, self._fields):
            raise UsageError(f"{path}, line 1: expected the columns {','.join(self.columns)}; {self.remedy}")
        rows, seen = self._parsed(path, lines, len(header)), dict[Hashable, int]()
        for number, row in enumerate(rows, start=2) if self.key else ():
            first = seen.setdefault(getattr(row, self.key), number)
            if first != number:
                raise UsageError(f"{path}, line {number}: repeats line {first}; remove one of the two")
        return rows

    @property
    def _compressed(self) -> bool:
        return self.file_name.endswith(".gz")

    def _parsed(self, path: Path, lines: Sequence[Sequence[str]], width: int) -> list[_Row]:
        hints = get_type_hints(self.row)
        blank = {name: None if NoneType in get_args(hints[name]) else "" for name in self._fields}
        for number, line in enumerate(lines, start=2):
            if len(line) != width:
                raise UsageError(f"{path}, line {number}: expected {width} columns, got {len(line)}; {self.remedy}")
        named = [{name: cell or blank[name] for name, cell in zip(blank, line, strict=False)} for line in lines]
        try:
            return msgspec.convert(named, list[self.row], strict=False)  # type: ignore[name-defined]
        except msgspec.ValidationError as error:
            place, reason = explained(error)
        found = re.fullmatch(r"\[(\d+)\](?:\.(\w+))?.*", place)
        assert found is not None
        index, column = int(found[1]), found[2]
        if column is not None:
            reason = f"column {column}: {reason.partition(', got ')[0]}, got {named[index][column] or ''!r}"
        raise UsageError(f"{path}, line {index + 2}: {reason}; {self.remedy}")


def _cell(value: object) -> object:
    """A cell's value. A whole number is written as one, whatever its type."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value

"""The rows of `measurements.csv`: their columns, and how they reach the disk and come back.

Owns the file. A trial's rows are appended in one write and synchronised, so that an interruption leaves them
all or none; only a torn last line, as a power failure or a full disk may leave it, is ever cut off.
"""

import csv
import io
import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.plan.grid import Scalar, TrialKey
from harness.store import validation
from harness.store.status import OK, UNSUPPORTED, one_line

FILE_NAME = "measurements.csv"
METRICS = ("throughput", "round_time", "overhead", "startup_time", "peak_rss", "cpu_time")

RowKey = tuple[str, str, str, int, str]


class OfTrial:
    """A row of any file that says of which trial it is."""

    workload: str
    parameters: str
    backend: str
    trial: int

    @property
    def trial_key(self) -> TrialKey:
        """Which trial the row belongs to."""
        return self.workload, self.parameters, self.backend, self.trial


class OfPoint:
    """A row of any file that says of which point it is, and in its status whether that went well."""

    workload: str
    scenario: str
    parameters: str
    status: str

    @property
    def point(self) -> tuple[str, str]:
        """Workload and parameters."""
        return self.workload, self.parameters

    @property
    def ok(self) -> bool:
        """Whether the row holds a value."""
        return self.status == OK

    @property
    def unsupported(self) -> bool:
        """Whether the backend cannot run at this point, which is no failure."""
        return self.status.startswith(UNSUPPORTED)

    @property
    def is_failure(self) -> bool:
        """Whether something went wrong."""
        return not (self.ok or self.unsupported)


@dataclass(frozen=True)
class Measurement(OfPoint, OfTrial):
    """One metric of one trial; the fields are the columns, in their order.

    `started_at`: when the trial began, UTC, ISO 8601. `parameters`: canonical JSON of the point. `value`:
    None where the trial failed; `status` is then the reason in one line.
    """

    run_id: str
    started_at: str
    workload: str
    scenario: str
    backend: str
    actors: int | None
    object_bytes: int | None
    steps_per_message: int | None
    minibatch: int | None
    workers: int | None
    parameters: str
    trial: int
    metric: str
    value: float | None
    unit: str
    digest: str
    status: str

    @property
    def key(self) -> RowKey:
        """What no other row of the file may repeat."""
        return (*self.trial_key, self.metric)

    def failed(self, reason: str) -> "Measurement":
        """The same row as a failure."""
        return replace(self, value=None, status=one_line(reason))


COLUMNS = tuple(field.name for field in fields(Measurement))
_INTEGERS = ("actors", "object_bytes", "steps_per_message", "minibatch", "workers")


def encode(rows: Iterable[Measurement]) -> bytes:
    """The rows as lines of the file."""
    return _lines([_cell(getattr(row, column)) for column in COLUMNS] for row in rows)


def _lines(table: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue().encode()


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


class Journal:
    """The open file of a run, to which rows are appended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)

    @classmethod
    def create(cls, path: Path) -> "Journal":
        """A new file with its header; raises FileExistsError."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            os.write(descriptor, _lines([COLUMNS]))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return cls(path)

    def append(self, rows: Sequence[Measurement]) -> None:
        """Write the rows at once and wait until they are on the disk; raises OSError (a full disk)."""
        data = encode(rows)
        written = os.write(self._descriptor, data)
        if written != len(data):
            raise OSError(f"only {written} of {len(data)} bytes could be written to {self._path}")
        os.fsync(self._descriptor)

    def rewrite(self, rows: Sequence[Measurement]) -> None:
        """Replace the whole file, atomically: for rows whose digest later proves wrong."""
        write_atomically(self._path, _lines([COLUMNS]) + encode(rows))
        self.close()
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` in place of the file, which any reader sees as it was or as it will be.

    Raises OSError, which names the file and not the temporary one.
    """
    try:
        _replace(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_object(path: Path, kind: Any, remedy: str) -> dict[str, Any]:
    """The JSON object of a kind (see `shape.mismatch`) that a file holds; raises UsageError, which ends with the
    remedy, where it holds none.
    """
    try:
        content = validation.parse(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; {remedy}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; {remedy}") from None
    except ValueError as error:
        raise UsageError(f"{path}: broken ({one_line(str(error))}); {remedy}") from None
    if reason := validation.mismatch(content, kind):
        raise UsageError(f"{path}: broken ({reason}); {remedy}")
    return dict(content)


def repair(path: Path) -> int:
    """Cut off a torn last line, the only damage an interrupted write leaves; returns the bytes removed."""
    data = path.read_bytes()
    kept = data.rfind(b"\n") + 1
    if kept == len(data):
        return 0
    with path.open("r+b") as file:
        if kept == 0:
            file.write(_lines([COLUMNS]))
            kept = file.tell()
        file.truncate(kept)
        os.fsync(file.fileno())
    return len(data) - kept


def is_torn(path: Path) -> bool:
    """Whether the last line is torn; raises OSError."""
    return not path.read_bytes().endswith(b"\n")


def read(path: Path) -> list[Measurement]:
    """All rows; a torn last line is left out. Raises UsageError that names the first broken line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; expected the results of `harness run`") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; expected the results of `harness run`") from None
    lines = data.split(b"\n")[:-1]  # what follows the last newline is torn, or empty
    if lines and _split(path, 1, lines[0]) != list(COLUMNS):
        raise UsageError(f"{path}, line 1: expected the columns {','.join(COLUMNS)}")
    rows = [_parse(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    seen: dict[RowKey, int] = {}
    for number, row in enumerate(rows, start=2):
        first = seen.setdefault(row.key, number)
        if first != number:
            raise UsageError(f"{path}, line {number}: repeats line {first}; remove one of the two")
    return rows


def _split(path: Path, number: int, line: bytes) -> list[str]:
    try:
        return next(csv.reader([line.decode()], strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{path}, line {number}: broken ({error}); remove the line or restore it") from None


def _parse(path: Path, number: int, line: bytes) -> Measurement:
    cells = _split(path, number, line)
    if len(cells) != len(COLUMNS):
        raise UsageError(
            f"{path}, line {number}: broken, expected {len(COLUMNS)} columns, got {len(cells)}; "
            "remove the line or restore it"
        )
    named = dict(zip(COLUMNS, cells, strict=True))
    try:
        return _row(named)
    except ValueError as error:
        raise UsageError(f"{path}, line {number}: broken, {error}; remove the line or restore it") from None


def check_parameters(text: str) -> None:
    """Raise ValueError where a cell doesn't say parameters."""
    if reason := validation.mismatch(validation.parse(text), dict[str, Scalar], "parameters"):
        raise ValueError(reason)


def _row(cells: dict[str, str]) -> Measurement:
    for name in ("workload", "backend", "unit", "status"):
        if not cells[name]:
            raise ValueError(f"{name} is empty")
    if cells["metric"] not in METRICS:
        raise ValueError(f"unknown metric {cells['metric']!r}")
    check_parameters(cells["parameters"])
    optional = {name: int(cells[name]) if cells[name] else None for name in _INTEGERS}
    value = float(cells["value"]) if cells["value"] else None
    if (value is not None) != (cells["status"] == OK):
        raise ValueError(f"value {cells['value']!r} does not go with status {cells['status']!r}")
    if value is not None and not math.isfinite(value):
        raise ValueError(f"value {cells['value']!r} is not finite")
    text = {name: cells[name] for name in COLUMNS if name not in (*_INTEGERS, "trial", "value")}
    return Measurement(**text, **optional, trial=int(cells["trial"]), value=value)  # type: ignore[arg-type]

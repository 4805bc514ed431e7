"""The output of every command: files, and complaints on standard error that fit a screen."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from reactorlib import ElaborationError

_FIRST, _LAST = 14, 6  # lines of a message that are shown at least
_WIDEST = 400  # characters of a line
_LIBRARY = str(Path(__file__).resolve().parents[1]) + os.sep


class UsageError(Exception):
    """The command line asks for something that does not exist."""


class Result(NamedTuple):
    """The result of a command: `record` is printed with --json, `text` without.

    With `faults`, which are printed as errors, or where it `failed`, its exit code is 1.
    """

    record: dict[str, Any]
    text: str
    faults: Sequence[str] = ()
    failed: bool = False


def show(result: Result, as_json: bool) -> None:
    """Print a result, and the faults of a program in the words of the error that a run raises."""
    if as_json:
        print(json.dumps(result.record))
        return
    if result.text:
        print(result.text)
    if result.faults:
        complain(ElaborationError(result.faults))


def complain(message: object) -> None:
    """Print on standard error what is wrong."""
    print(f"reactorlib: {on_a_screen(str(message))}", file=sys.stderr)


def on_a_screen(text: str) -> str:
    """A message without the middle of too many lines, and without the end of a line that is too long.

    >>> on_a_screen("short"), len(on_a_screen("x" * 1000)), on_a_screen("line\\n" * 1000).count("\\n")
    ('short', 403, 20)
    """
    lines = [line if len(line) <= _WIDEST else line[:_WIDEST] + "..." for line in text.splitlines()]
    left_out = len(lines) - _FIRST - _LAST
    if left_out > 1:
        lines[_FIRST:-_LAST] = [f"    ... {left_out} lines left out ..."]
    return "\n".join(lines)


def show_traceback(error: BaseException) -> None:
    """Print where an error comes from, with the frames of the user's code only."""
    whole = traceback.TracebackException.from_exception(error, compact=True)
    link: traceback.TracebackException | None = whole
    while link is not None:
        frames = [frame for frame in link.stack if not frame.filename.startswith(_LIBRARY)]
        link.stack = traceback.StackSummary.from_list(frames)
        link = link.__cause__ or link.__context__
    print(on_a_screen("".join(whole.format())), file=sys.stderr)


def check_writable(path: str) -> None:
    """Raise UsageError where write_file would. An existing file stays as it is."""
    file = Path(os.path.realpath(path))  # of a link, which stays, its target
    is_new = not os.path.lexists(file)
    with _os_errors_named(path), file.open("ab"):
        pass
    if is_new:
        file.unlink()


def write_file(path: str, content: bytes, *, new: bool = False) -> None:
    """Write a file; with `new`, only if there is none. Raises UsageError if that fails."""
    with _os_errors_named(path), Path(path).open("xb" if new else "wb") as file:
        file.write(content)


@contextmanager
def _os_errors_named(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error

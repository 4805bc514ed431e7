"""What every command writes: files, and what went wrong on standard error, no longer than a screen."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reactorlib.errors import ElaborationError

_FIRST, _LAST = 14, 6  # lines of a message that are shown at least
_WIDEST = 400  # characters of a line
_FRAMES = 4  # of a traceback
_LIBRARY = str(Path(__file__).resolve().parents[1])


class UsageError(Exception):
    """The command line asks for something that isn't there."""


def complain(message: object) -> None:
    """Say on standard error what is wrong."""
    print(f"reactorlib: {on_a_screen(str(message))}", file=sys.stderr)


def complain_of(faults: Sequence[str]) -> None:
    """Say what is wrong with a program, in the words in which a run refuses it."""
    if faults:
        complain(ElaborationError(faults))


def on_a_screen(text: str) -> str:
    """A message, without the middle of its lines where there are too many, and of a line that is too long.

    >>> on_a_screen("short"), len(on_a_screen("x" * 1000)), on_a_screen("line\\n" * 1000).count("\\n")
    ('short', 403, 20)
    """
    lines = [line if len(line) <= _WIDEST else line[:_WIDEST] + "..." for line in text.splitlines()]
    left_out = len(lines) - _FIRST - _LAST
    if left_out > 1:
        lines[_FIRST:-_LAST] = [f"    ... {left_out} lines left out ..."]
    return "\n".join(lines)


def show_traceback(error: BaseException) -> None:
    """Where an error comes from: the frames of the user's code, the first and the last of many, and what led to it."""
    told: traceback.TracebackException | None = traceback.TracebackException.from_exception(error, compact=True)
    parts: list[str] = []
    while told is not None:
        parts.insert(0, "".join((*_frames(told.stack), *told.format_exception_only())))
        told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)
    print("which led to:\n".join(on_a_screen(part) + "\n" for part in parts), end="", file=sys.stderr)


def _frames(stack: traceback.StackSummary) -> Iterator[str]:
    frames = [frame for frame in stack if not frame.filename.startswith(_LIBRARY)]
    if not frames:
        return
    yield "Traceback (most recent call last):\n"
    left_out = len(frames) - _FRAMES
    if left_out <= 1:
        yield from traceback.StackSummary.from_list(frames).format()
        return
    yield from traceback.StackSummary.from_list(frames[: _FRAMES // 2]).format()
    yield f"  ... {left_out} calls left out ...\n"
    yield from traceback.StackSummary.from_list(frames[-_FRAMES // 2 :]).format()


def check_writable(path: str) -> None:
    """Raise UsageError where write_file would. What is there stays."""
    is_new = not Path(path).exists()
    with _told(path), Path(path).open("ab"):
        pass
    if is_new:
        Path(path).unlink()


def write_file(path: str, content: bytes, *, new: bool = False) -> None:
    """Write a file, with `new` only where there is none. Raises UsageError, in one line, where that cannot be done."""
    with _told(path), Path(path).open("xb" if new else "wb") as file:
        file.write(content)


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error

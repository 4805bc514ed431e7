"""Standard output of a command line that is closed, full or cut off, or that must hold nothing but a result."""

from __future__ import annotations

import atexit
import errno
import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, NoReturn, ParamSpec

P = ParamSpec("P")
LOST, CUT = 2, 141  # statuses if output is not written, and if its reader leaves early (the shell's for SIGPIPE)


class _Output(io.FileIO):
    """Standard output as a file that remembers why it could not be written."""

    error: OSError | None = None

    def __init__(self, is_closed: bool) -> None:
        super().__init__(1, "w", closefd=False)
        self._is_closed = is_closed  # and number 1 is open to the null device

    def write(self, data: Any) -> int:
        if self._is_closed:
            self.error = OSError(errno.EBADF, "it is closed")
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            raise


def ended(main: Callable[P, int]) -> Callable[P, int]:
    """Decorate the main function of a command line: its status says if output was lost, and no traceback does.

    The status is that of `main` if all output was written. If standard output is closed or full, standard error has a
    line and the status is 2. If its reader has left early, as in `| head -1`, the status is 141, without a line.
    """

    @functools.wraps(main)
    def command(*args: P.args, **kwargs: P.kwargs) -> int:
        _open_streams()
        try:
            status = main(*args, **kwargs)
        except SystemExit:
            if (lost := _lost()) is None:
                raise
            return lost
        except OSError:
            if (lost := _lost()) is None:
                raise
            return lost
        return status if (lost := _lost()) is None else lost

    return command


def fault() -> OSError | None:
    """Why standard output cannot be written, or None. Writes what has been printed."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", getattr(sys.stdout, "buffer", None))
    return raw.error if isinstance(raw, _Output) else None


def _lost() -> int | None:
    """The status of a command whose output cannot be written, after a line about it. None if all was written."""
    error = fault()
    if error is None:
        return None
    # The interpreter writes the rest at its end, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return CUT
    print(f"standard output cannot be written: {error.strerror}", file=sys.stderr)
    return LOST


def _open_streams() -> None:
    """Have standard output remember its errors, and escape what its encoding lacks. Open closed streams to nothing."""
    _open_descriptors()
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(2, "w", closefd=False), write_through=True)
    own = sys.__stdout__
    if own is not None and sys.stdout is not own:
        return  # a test or another caller has its own
    raw = _Output(is_closed=own is None)
    if own is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8")
        return
    errors = own.errors if own.encoding.lower() == "utf-8" else "backslashreplace"
    sys.stdout = io.TextIOWrapper(
        raw if own.write_through else io.BufferedWriter(raw), own.encoding, errors,
        line_buffering=own.line_buffering, write_through=own.write_through,
    )  # fmt: skip


def _open_descriptors() -> None:
    """A file that is opened later must not get the number of a closed stream: other processes print there."""
    for number in (1, 2):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, number)
            os.set_inheritable(number, True)
            if null != number:
                os.close(null)


@contextmanager
def to_stderr() -> Iterator[None]:
    """Send all that is printed in this block to standard error, whether Python, C or another process prints it.

    A module of the user that is imported here does not spoil a result on standard output.
    """
    import ctypes  # where it is needed: a command starts sooner without it

    _open_descriptors()
    library = ctypes.CDLL(None)  # has the buffer of what C printed
    with suppress(OSError):  # which `fault` meets again
        sys.stdout.flush()
    kept = os.dup(1)
    library.fflush(None)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        library.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def leave(status: int) -> NoReturn:
    """End the process, also where the user's module has left a thread for which the interpreter would wait."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if all(thread.daemon for thread in others):
        sys.exit(status)
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(status)

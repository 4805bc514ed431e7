"""Errors that end a command of the harness without a traceback."""

import signal
import sys
from contextlib import suppress


class UsageError(Exception):
    """A mistake that the user can put right. The text is one line: the mistake, and the remedy."""


class Terminated(BaseException):
    """A signal asked the harness to end. Not an Exception: nothing but the command line may swallow it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def interrupted(error: KeyboardInterrupt | Terminated) -> int:
    """Say in one line that a command was interrupted, with the notes of the error; the exit status."""
    with suppress(OSError):  # after SIGHUP the terminal is gone
        print(" ".join(["harness: interrupted", *getattr(error, "__notes__", ())]), file=sys.stderr)
    return 128 + (error.signal_number if isinstance(error, Terminated) else signal.SIGINT)

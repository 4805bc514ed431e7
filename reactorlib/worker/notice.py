"""Lines on standard error about a run that goes on, and would seem to hang without a word."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Timer

LATE_S = 1.0  # a failure that is not raised within this time is reported


def notice(text: str) -> None:
    """Print such a line, in one write: threads and processes print side by side."""
    sys.stderr.write(f"reactorlib: {text}\n")
    sys.stderr.flush()


def notice_late(text: Callable[[], str]) -> Timer:
    """Print the line that `text` returns in a second, unless the timer that this returns is cancelled before."""
    timer = Timer(LATE_S, lambda: notice(text()))
    timer.daemon = True
    timer.start()
    return timer

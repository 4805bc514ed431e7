"""Lines on standard error about a run that goes on, and would seem to hang without a word."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Timer

LATE_S = 1.0  # a failure that is not raised within this time is reported


def notice(text: str) -> None:
    """Print such a line, in one write: threads and processes print side by side."""
    sys.stderr.write(f"reactorlib: {text}\n")
    sys.stderr.flush()


def notice_late(text: Callable[[], str]) -> Callable[[], None]:
    """Print the line that `text` returns in a second. Returns the function that cancels this."""
    timer = Timer(LATE_S, lambda: notice(text()))
    timer.daemon = True
    with suppress(RuntimeError):  # the system has no further thread, and the failure itself matters more
        timer.start()

    def cancel() -> None:
        timer.cancel()
        if timer.is_alive():
            timer.join()  # it holds on to the run

    return cancel

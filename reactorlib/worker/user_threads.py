"""Threads that reactions start: each knows its run, and the run learns what ended it.

Python tells a new thread nothing of who started it. So from the first run on `threading.Thread.start` passes a hook,
which does nothing but where a reaction, or a thread that one started, is the caller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from reactorlib.worker.context import origin

_lock = threading.Lock()
_plain_start: Callable[[threading.Thread], None] | None = None


def hook() -> None:
    """Put the hook in place; once in a process."""
    global _plain_start
    with _lock:
        if _plain_start is None:
            _plain_start = threading.Thread.start
            threading.Thread.start = _start  # type: ignore[method-assign, assignment]


def _start(thread: threading.Thread) -> None:
    assert _plain_start is not None
    outside, body = origin.get(), thread.run
    if outside is not None and not outside.over:

        def serve() -> None:
            vars(thread).pop("run", None)  # else the thread would refer to itself
            origin.set(outside)
            try:
                body()
            except SystemExit:  # ends the thread alone
                raise
            except BaseException as error:
                outside.fail(thread.name, error)
                raise

        outside.adopt()
        thread.run = serve  # type: ignore[method-assign]
    _plain_start(thread)

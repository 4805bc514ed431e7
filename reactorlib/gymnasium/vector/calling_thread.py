"""The thread that uses a vector environment. Environments that run coroutines or handle signals may fail in it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class CallingThread(NamedTuple):
    """The facts of a thread that an environment may depend on."""

    is_main: bool
    has_loop: bool

    @property
    def obstacle(self) -> str | None:
        """A reason why an environment may fail in this thread that works in a process of a worker."""
        if self.has_loop:
            return "the caller's thread runs an event loop"
        return None if self.is_main else "the caller's thread is not the main one"

    def imitate(self, call: Callable[[], T]) -> T:
        """Call a function in a thread like this one. The caller is the main thread of another process."""
        act = call
        if self.has_loop:
            import asyncio  # the caller has it

            async def task() -> T:
                return call()

            act = lambda: asyncio.run(task())  # noqa: E731
        if self.is_main:
            return act()
        from concurrent.futures import ThreadPoolExecutor  # only where it is used

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(act).result()


def calling_thread() -> CallingThread:
    """The facts of the thread that makes this call."""
    asyncio = sys.modules.get("asyncio")  # a program without it has no loop
    try:
        has_loop = asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        has_loop = False
    return CallingThread(threading.current_thread() is threading.main_thread(), has_loop)

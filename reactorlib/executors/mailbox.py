"""Messages from one thread to another. A message is an append to a deque, which is atomic and orders memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import perf_counter_ns
from typing import Any

from reactorlib.transport.waiting import Spinner

LONGEST_BLOCK_S = 0.05  # the interval of checks, as on processes


class Mailbox:
    """Messages from one thread to another: spins for a while where threads really run, then blocks."""

    __slots__ = ("_bell", "_items", "_sleeping", "_spinner")

    def __init__(self, spinner: Spinner | None) -> None:
        self._items: deque[Any] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._sleeping = False
        self._spinner = spinner  # of the receiving thread

    def put(self, message: Any) -> None:
        self._items.append(message)
        if self._sleeping:
            self._bell.put(None)

    def get(self, check: Callable[[], None]) -> Any:
        """The next message. Calls `check`, which may raise, at least every 50 ms while there is none."""
        items = self._items
        if not items and self._spinner is not None:
            self._spinner.spin(items.__len__, perf_counter_ns())
        while not items:
            self._sleep()
            if not items:
                check()
        return items.popleft()

    def _sleep(self) -> None:
        """Sleep until the bell rings, at most 50 ms. A ring for a message that is gone only costs one more look."""
        self._sleeping = True
        try:
            self._bell.empty()  # takes the queue's lock, so that "I sleep" is seen before we look once more
            if not self._items:
                self._bell.get(timeout=LONGEST_BLOCK_S)
        except Empty:
            pass
        finally:
            self._sleeping = False

"""Calls of other threads to a run: physical actions, requests to stop, exceptions.

Any thread may write. Only the tag loop takes, until the run has ended.
"""

from __future__ import annotations

import os
from collections import deque
from time import sleep
from typing import Any

from reactorlib.clock import Clock
from reactorlib.errors import RunError, ThreadError
from reactorlib.worker.cells import Event

# An event, when it was scheduled and for when (ns since the start of the run), and its value. Without an event, the
# loop only checks `stopping` and `failure`.
Arrival = tuple[Event | None, int, int, Any]
LOOK: Arrival = (None, -1, -1, None)

# While CROWD physical actions wait, each call takes at least PAUSE_S, so that reactions get the interpreter. A thread
# never waits for the loop, which may wait for the thread.
CROWD = 1000
PAUSE_S = 0.001


class Outside:
    """A run as a thread without reactions sees it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.started = 0  # physical time, until the run begins
        self.over = False  # the run has ended

    def adopt(self) -> None:
        """A reaction gives the run to a thread, which may then call `stop` and `fail`."""

    def stop(self) -> None:
        """Stop the run after the tag that it is at when it takes this."""
        raise NotImplementedError

    def fail(self, thread: str, error: BaseException) -> None:
        """A thread of a reaction has raised, which fails the run. The first such error counts."""
        raise NotImplementedError


class Inbox(Outside):
    """The inbox of one run, in the process of its tag loop."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.arrivals: deque[Arrival] = deque()
        self.stopping = False  # somebody asked for it
        self.failure: ThreadError | None = None
        self._process = os.getpid()

    def schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        """Schedule a physical action from any thread. The clock is read here."""
        if self.over:
            raise RunError(f"{event.path}.schedule(): the run has ended")
        now = self.clock.now() - self.started
        self.arrivals.append((event, now, now + event.trigger.delay + extra_delay, value))
        self.clock.wake()
        if len(self.arrivals) > CROWD:
            sleep(PAUSE_S)

    def stop(self) -> None:
        self.stopping = True
        self._look()

    def fail(self, thread: str, error: BaseException) -> None:
        if self.over or os.getpid() != self._process:  # a process that a reaction forked is not the run's
            return
        self.failure = self.failure or ThreadError(thread, error)
        self._look()

    def close(self) -> None:
        """The run has ended."""
        self.over = True
        self.arrivals.clear()

    def _look(self) -> None:
        self.arrivals.append(LOOK)
        self.clock.wake()

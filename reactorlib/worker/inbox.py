"""What other threads tell a run: physical actions, that it is to stop, what they raised.

Any thread may write, the tag loop alone takes. Once the run has ended nothing is taken any more.
"""

from __future__ import annotations

import os
from collections import deque
from time import sleep
from typing import Any

from reactorlib.clock import Clock
from reactorlib.errors import RunError, ThreadError
from reactorlib.worker.cells import Event

# An event, when it was scheduled, for when (ns since the start of the run), and its value. Without an event it only
# makes the loop look at `stopping` and `failure`.
Arrival = tuple[Event | None, int, int, Any]
LOOK: Arrival = (None, -1, -1, None)

# A thread that schedules faster than reactions run lets them have the interpreter: with so many physical actions
# waiting, each call takes at least so long. It never waits for the loop, which may wait for the thread.
CROWD = 1000
PAUSE_S = 0.001


class Outside:
    """What a thread that runs no reactions may know of a run, and ask of it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.started = 0  # physical time, until the run begins
        self.over = False  # the run has ended

    def adopt(self) -> None:
        """A reaction gives the run to a thread, which may then call `stop` and `fail`."""

    def stop(self) -> None:
        """The run is to stop after the tag that it is at when it takes notice."""
        raise NotImplementedError

    def fail(self, thread: str, error: BaseException) -> None:
        """A thread of a reaction has raised: the run fails. The first such error counts."""
        raise NotImplementedError


class Inbox(Outside):
    """Of one run, in the process of its tag loop."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.arrivals: deque[Arrival] = deque()
        self.stopping = False  # somebody asked for it
        self.failure: ThreadError | None = None
        self._process = os.getpid()

    def schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        """A physical action, from any thread: the tag is read off the clock here."""
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

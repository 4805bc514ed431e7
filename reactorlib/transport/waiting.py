"""How a worker waits for another: it spins for a short time, then sleeps in the kernel until it is rung.

A sleeper is rung only if it says that it sleeps, so that a message to a worker that is awake costs no system
call. Saying "I sleep" and looking once more race with writing and looking for sleepers; the sleeper has a fence
between the two, and what can still slip through is bounded: the first sleeps are short, none is longer than
50 ms, and after each the worker looks again.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Callable
from threading import get_native_id
from time import perf_counter_ns as clock

from reactorlib.transport.memory import fence
from reactorlib.transport.spinning import SPIN_NS, Spinner

FIRST_SLEEP_MS = 2
LONGEST_SLEEP_MS = 50
AWAKE = 0  # the state of a worker that does not sleep; others say what it waits for
STATE_WORDS = 8  # the state of a worker has a cache line of its own
THREAD = 2  # the word of it that says in which thread the worker waits


class Bell:
    """An eventfd to sleep on. One process listens, any may ring; it forgets how often it was rung."""

    def __init__(self, fd: int | None = None) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC) if fd is None else fd
        self._poll: select.poll | None = None

    def ring(self) -> None:
        """Wake the listener, or let it not fall asleep next time. Never blocks."""
        with contextlib.suppress(BlockingIOError):  # one of 2**64 rings more changes nothing
            os.eventfd_write(self.fd, 1)

    def take(self) -> bool:
        """Use up all rings; False if there is none."""
        try:
            return bool(os.eventfd_read(self.fd))
        except BlockingIOError:
            return False

    def sleep(self, milliseconds: int) -> bool:
        """Sleep until rung, at most so long; whether there is a ring to take."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.fd, select.POLLIN)
        return bool(self._poll.poll(milliseconds))

    def close(self) -> None:
        """Close the descriptor of this process."""
        os.close(self.fd)


class Waiter:
    """The waits of one worker. `states[worker * STATE_WORDS]` says what it sleeps on: AWAKE (nothing), ...

    `check` is called after every sleep in vain, so at least every LONGEST_SLEEP_MS, and ends the wait by raising;
    `meanwhile` is called after it.
    """

    def __init__(
        self,
        bell: Bell,
        states: memoryview,
        worker: int,
        check: Callable[[], None],
        meanwhile: Callable[[], None] = lambda: None,
        spin_ns: int = SPIN_NS,
    ) -> None:
        self.bell = bell
        self.check = check
        self.meanwhile = meanwhile
        self._states = states
        self._at = worker * STATE_WORDS
        states[self._at + THREAD] = get_native_id()
        self._spinner = Spinner(spin_ns, self._fellows)

    def wait(self, arrived: Callable[[], bool], state: int) -> None:
        """Wait until `arrived()`. `state` is what the others see while this worker sleeps."""
        self._spinner.spin(arrived, clock())
        pause = FIRST_SLEEP_MS
        while not arrived():
            if pause > FIRST_SLEEP_MS:
                self.check()
                self.meanwhile()
            self._sleep(arrived, state, pause)
            pause = min(2 * pause, LONGEST_SLEEP_MS)

    def _fellows(self) -> list[int]:
        threads = [self._states[at] for at in range(THREAD, len(self._states), STATE_WORDS)]
        del threads[self._at // STATE_WORDS]
        return threads

    def _sleep(self, arrived: Callable[[], bool], state: int, pause: int) -> None:
        self._states[self._at] = state
        try:
            fence()
            if not arrived() and self.bell.sleep(pause):
                self.bell.take()
        finally:
            self._states[self._at] = AWAKE

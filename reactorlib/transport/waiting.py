"""How a worker waits for another: it spins, then sleeps in the kernel until it is rung. See docs/kernel.md.

A sleeper is rung only if it says that it sleeps, so that a message to a worker that is awake costs no system call. A
worker says so, looks once more behind a fence, and sleeps. A sender writes, then looks for sleepers. A message may
still slip through between the two. So the first sleep is short, none exceeds 50 ms, and the worker looks after each.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Callable, Sequence
from threading import get_native_id
from time import perf_counter_ns as clock
from typing import Any

from reactorlib.transport.debug import before
from reactorlib.transport.loan import Descriptor
from reactorlib.transport.memory import fence

SPIN_NS = 5_000_000
# Every wait may spin for this long. A longer one is a long wait, and spins on only where the kernel counts.
SURE_NS = 200_000
REST_NS, LONGEST_REST_NS = 10_000_000, 1_000_000_000  # without spinning, while others want the processor
WANTED = 0.1  # others want the processor if a thread waited for it for at least this part of the time
PAUSE_NS = 20_000_000  # a pause lasts this long for each fellow; asking where one is takes a thousandth of it
PROBE = 16  # where all long waits were in vain, every 16th is spun in full
_SCHEDSTAT = "/proc/thread-self/schedstat"  # two counts in ns: this thread ran, and it was ready and did not

FIRST_SLEEP_MS = 2
LONGEST_SLEEP_MS = 50
AWAKE = 0  # the state of a worker that does not sleep
# The words of a worker's cache line. The first is its state (see channel.py).
STATE_WORDS = 8
STAGE, THREAD, TAKEN = 1, 2, 3  # how far it is in its life, its thread, the bytes of shared memory that it has taken


class Spinner:
    """The spinning of one worker, at most `spin_ns` in a wait. `fellows`: the threads of the other workers."""

    def __init__(self, spin_ns: int = SPIN_NS, fellows: Callable[[], Sequence[int]] = tuple) -> None:
        self.spin_ns = spin_ns
        self._fellows = fellows
        self._rested = 0  # when it may spin again
        self._rest_ns = REST_NS
        self._vain = 0  # long waits in succession that were spun in vain
        self._looked: tuple[int, int] | None = None  # when, and how long it had been kept from running until then

    def spin(self, arrived: Callable[[], object], now: int) -> None:
        """Return when something arrived, or when it is better to sleep."""
        if now < self._rested or not self.spin_ns:
            return
        began, sure = now, now + min(SURE_NS, self.spin_ns)
        while now < sure:
            for _ in range(32):
                if arrived():
                    return
            now = clock()
        kept = _kept_ns()
        if kept is None:
            return
        last, self._looked = self._looked, (now, kept)
        fellows = self._fellows()
        is_wanted = last is not None and kept - last[1] > WANTED * (now - last[0])
        # Linux likes to wake a thread next to the one that wakes it, and counts nothing until they have taken turns.
        after_pause = last is None or now - last[0] > PAUSE_NS * len(fellows)
        if (is_wanted or after_pause) and not leave_processor(fellows) and is_wanted:
            self._rest(now)
            return
        # After each long wait in vain half as long, but at least a sixteenth.
        until = began + (self.spin_ns if self._vain % PROBE == 0 else self.spin_ns >> min(self._vain, 4))
        while now < until:
            for _ in range(32):
                if arrived():
                    self._vain = 0
                    return
            now = clock()
        self._vain += 1

    def _rest(self, now: int) -> None:
        """Others want this processor: a sleeper is woken in time, a spinner uses up the time that it may run."""
        again = now - self._rested < LONGEST_REST_NS
        self._rest_ns = min(2 * self._rest_ns, LONGEST_REST_NS) if again else REST_NS
        self._rested = now + self._rest_ns


class Bell:
    """An eventfd to sleep on. One process listens, any may ring; it forgets how often it was rung."""

    def __init__(self, received: Any = None) -> None:
        self._descriptor = Descriptor(
            received.detach() if received else os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        )
        self._poll = select.poll()
        self._poll.register(self._descriptor.number, select.POLLIN)

    def __reduce__(self) -> Any:
        from multiprocessing.reduction import DupFd  # which `spawn` takes along

        return Bell, (DupFd(self._descriptor.number),)

    def ring(self) -> None:
        """Wake the listener, or let it not fall asleep next time. Never blocks."""
        with contextlib.suppress(BlockingIOError):  # one of 2**64 rings more changes nothing
            os.eventfd_write(self._descriptor.number, 1)

    def sleep(self, milliseconds: int) -> bool:
        """Sleep until rung, at most for this time; whether it was. Uses up all rings."""
        return bool(self._poll.poll(milliseconds)) and os.eventfd_read(self._descriptor.number) > 0

    def close(self) -> None:
        self._descriptor.close()


def _is_awake(waiter: Waiter, _arrived: object, _state: int) -> None:
    assert waiter.states[waiter._at] == AWAKE, "a worker that does not wait looks asleep"


class Waiter:
    """The waits of one worker. `states[worker * STATE_WORDS]` is its state: AWAKE, or the reason of its sleep.

    `check` is called after every sleep in vain, at least every LONGEST_SLEEP_MS. It ends the wait by raising.
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
        self.states = states
        self._at = worker * STATE_WORDS
        states[self._at + THREAD] = get_native_id()
        self._spinner = Spinner(spin_ns, self._fellows)

    @before(_is_awake)
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
        threads = self.states[THREAD::STATE_WORDS].tolist()
        del threads[self._at // STATE_WORDS]
        return threads

    def _sleep(self, arrived: Callable[[], bool], state: int, pause: int) -> None:
        self.states[self._at] = state
        try:
            fence()
            if not arrived():
                self.bell.sleep(pause)
        finally:
            self.states[self._at] = AWAKE


def _kept_ns() -> int | None:
    """How long this thread was ready to run and had no processor, in ns; None where the kernel does not count."""
    try:
        with open(_SCHEDSTAT, encoding="ascii") as file:  # noqa: PTH123  # pathlib takes longer to import than a run
            ran, kept, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return None
    return kept if ran else None  # a kernel that does not count shows 0


# A processor for each worker, also where the system put two workers on one


def leave_processor(fellows: Sequence[int]) -> bool:
    """Move this thread off a processor that it shares with a fellow, if no other program runs; whether it did."""
    if not fellows:
        return False
    mine, theirs = _processor_of("thread-self"), [at for at in map(_processor_of, fellows) if at is not None]
    if mine not in theirs:
        return False
    allowed = os.sched_getaffinity(0)
    free = allowed.difference(theirs)
    # Where another program's thread runs or is ready, a processor without a fellow may be that thread's.
    if not free or not 0 < _running() <= 1 + len(theirs):
        return False
    try:
        try:  # a signal's handler may raise after the first call
            os.sched_setaffinity(0, free)
        finally:
            os.sched_setaffinity(0, allowed)
    except OSError:  # somebody took processors away meanwhile
        return False
    return True


def _processor_of(thread: int | str) -> int | None:
    """Where it runs or is ready to; None where it does neither, or nothing is known."""
    try:
        with open(f"/proc/{thread}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as above
            state, *counts = file.read().rpartition(")")[2].split()
            return int(counts[35]) if state == "R" else None
    except (OSError, ValueError, IndexError):
        return None


def _running() -> int:
    """The threads of this machine that run or are ready to; 0 where that cannot be known."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123  # as above
            return int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 0

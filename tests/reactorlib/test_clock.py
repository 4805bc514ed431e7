"""The clock, where threads and signal handlers wake it."""

from __future__ import annotations

import signal
import threading
from time import monotonic_ns

import pytest

from reactorlib.worker.clock import LONGEST_WAIT_NS, PhysicalClock

PATIENCE_S = 20
FAR = float("inf")


def waited_ns(clock: PhysicalClock) -> int:
    began = monotonic_ns()
    clock.wait(FAR)
    return monotonic_ns() - began


def test_wakes_before_a_wait_end_that_wait_and_no_other() -> None:
    clock = PhysicalClock()
    clock.wake()
    clock.wake()
    assert waited_ns(clock) < LONGEST_WAIT_NS
    assert waited_ns(clock) >= LONGEST_WAIT_NS


def test_a_wait_ends_at_its_time() -> None:
    clock = PhysicalClock()
    due = clock.now() + 2_000_000
    clock.wait(due)
    assert clock.now() >= due


@pytest.mark.parametrize("count", [1, 8])
def test_a_thread_wakes_it(count: int) -> None:
    clock, waiting = PhysicalClock(), threading.Event()
    threads = [threading.Thread(target=lambda: waiting.wait(PATIENCE_S) and clock.wake()) for _ in range(count)]
    for thread in threads:
        thread.start()
    waiting.set()
    assert waited_ns(clock) < LONGEST_WAIT_NS
    for thread in threads:
        thread.join(PATIENCE_S)


def test_a_signal_handler_wakes_it_in_the_waiting_thread() -> None:
    clock = PhysicalClock()
    before = signal.signal(signal.SIGALRM, lambda *_: clock.wake())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        assert waited_ns(clock) < LONGEST_WAIT_NS
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

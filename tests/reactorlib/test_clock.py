"""The clock, where threads and its end meet."""

from __future__ import annotations

import threading

from reactorlib.clock import PhysicalClock

PATIENCE_S = 20


class Slow:
    """A file whose write takes until it is closed or a moment has passed; says what happened in which order."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.begun, self.ended = threading.Event(), threading.Event()

    def write(self, _data: bytes) -> None:
        self.begun.set()
        self.ended.wait(0.2)
        self.said.append("written")

    def close(self) -> None:
        self.ended.set()
        self.said.append("closed")


def test_a_descriptor_is_not_closed_while_a_thread_writes_to_it() -> None:
    clock, file = PhysicalClock(), Slow()
    real, clock._writing = clock._writing, file
    thread = threading.Thread(target=clock.wake)
    thread.start()
    assert file.begun.wait(PATIENCE_S)
    clock.close()
    thread.join(PATIENCE_S)
    real.close()
    assert file.said == ["written", "closed"]


def test_a_clock_that_is_closed_can_be_woken_in_vain() -> None:
    clock = PhysicalClock()
    clock.close()
    clock.wake()
    clock.close()

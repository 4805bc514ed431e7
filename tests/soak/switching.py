"""Thread switches at random moments: switch intervals, pauses, and a thread that competes for the processors.

`python -m pytest -p tests.soak.switching` runs any tests under them.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SHORTEST_SWITCH_S, LONGEST_SWITCH_S = 1e-6, 5e-3
LONGEST_WORK_S = 2e-3  # of the competing thread, before it naps
LONGEST_PAUSE_S = 2e-4
CHANCES = (0, 0.02, 0.2)  # of a pause


class _Chance:
    """How likely a pause is: without any, messages follow one another soonest."""

    of_pause = 0.0


def pause() -> None:
    """Mostly nothing. Else let another thread run, sleep, or compute for a moment."""
    if random.random() < _Chance.of_pause:
        way = random.randrange(4)
        if way < 2:
            time.sleep(0)
        elif way == 2:
            time.sleep(random.random() * LONGEST_PAUSE_S)
        else:
            compute(random.random() * LONGEST_PAUSE_S)


def compute(duration_s: float) -> None:
    until = time.perf_counter() + duration_s
    while time.perf_counter() < until:
        pass


@contextmanager
def switching() -> Iterator[None]:
    """Switch threads at moments that differ from one use to the next."""
    before, over = sys.getswitchinterval(), threading.Event()
    _Chance.of_pause = random.choice(CHANCES)
    sys.setswitchinterval(SHORTEST_SWITCH_S * (LONGEST_SWITCH_S / SHORTEST_SWITCH_S) ** random.random())
    rival = threading.Thread(target=_compete, args=(over, random.random()), name="rival", daemon=True)
    rival.start()
    try:
        yield
    finally:
        over.set()
        rival.join()
        sys.setswitchinterval(before)


def _compete(over: threading.Event, share: float) -> None:
    """Take about this share of a processor. Without a GIL, the system preempts others for it."""
    while not over.is_set():
        work_s = random.random() * LONGEST_WORK_S
        compute(work_s * share)
        over.wait(work_s * (1 - share))


@pytest.fixture(autouse=True)
def switched() -> Iterator[None]:
    with switching():
        yield

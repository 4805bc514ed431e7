"""How a rank waits for messages of MPI: it looks for a short time, then between sleeps.

MPI offers nothing to sleep on. It would spin, and take the processor from environments that need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from ctypes import CDLL
from time import perf_counter_ns as clock
from time import sleep

from reactorlib.transport.waiting import Spinner

LOOK_NS = 100_000  # longer than its neighbours sleep at first, or two ranks would sleep in turn
LOOKS = 8  # after each sleep: MPI may need several to take what is there
SHORTEST_SLEEP_NS, LONGEST_SLEEP_NS = 20_000, 2_000_000
PATIENCE = 8  # a sleep lasts at most this part of the wait so far
TIMER_SLACK_NS = 1_000  # the default is 50 us, more than the shortest sleep
_PR_SET_TIMERSLACK = 29


class RankWaiter:
    """The waits of one rank. `neighbours`: processes of the other ranks on its host."""

    def __init__(self, check: Callable[[], None], spin_ns: int, neighbours: Sequence[int]) -> None:
        self.check = check
        self._spinner = Spinner(spin_ns, lambda: neighbours)
        set_timer_slack(TIMER_SLACK_NS)

    def wait(self, arrived: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait until `arrived()` or until the check raises. Call `meanwhile` between looks."""
        now = began = clock()
        while now < began + LOOK_NS:
            for _ in range(4):
                if arrived():
                    return
            os.sched_yield()  # the sender may need this processor
            now = clock()
        self._spinner.spin(arrived, now)
        while True:
            for _ in range(LOOKS):
                if arrived():
                    return
            self.check()
            meanwhile()
            sleep(min(max((clock() - began) // PATIENCE, SHORTEST_SLEEP_NS), LONGEST_SLEEP_NS) / 1e9)

    def close(self) -> None:
        """Leave the thread with the system's default."""
        set_timer_slack(0)


def set_timer_slack(slack_ns: int) -> None:
    """Set by how much the system may prolong a sleep of this thread, 0 for the default."""
    CDLL(None).prctl(_PR_SET_TIMERSLACK, slack_ns, 0, 0, 0)

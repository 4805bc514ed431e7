"""How a rank waits for messages of MPI: it looks for a short time, then between sleeps.

MPI itself would spin, and take the processor from environments that need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from select import POLLIN, poll
from time import perf_counter_ns as clock
from time import sleep

from reactorlib.transport.waiting import Spinner

# A rank looks longer than its neighbours sleep at first, or two ranks would sleep in turn. It looks for a shorter time
# if an arrival ends its sleep.
LOOK_NS, LOOK_FAR_NS = 100_000, 10_000
LOOKS = 8  # after each sleep
MOST_IDLE = 100  # then an epoll is always ready, or closed, and no use
SHORTEST_SLEEP_NS, LONGEST_SLEEP_NS = 20_000, 2_000_000
TIMER_SLACK_NS = 1_000  # the default is 50 us, more than the shortest sleep
PATIENCE = 8  # a sleep lasts at most this part of the wait so far
_PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 29, 30


class RankWaiter:
    """The waits of one rank. `neighbours`: processes of the other ranks on its host.

    MPI offers nothing to sleep on. But its network library has an epoll, whose readiness ends a sleep here if a rank
    has no neighbours. Nothing depends on that, as all sleeps are short.
    """

    def __init__(self, check: Callable[[], None], spin_ns: int, neighbours: Sequence[int]) -> None:
        self.check = check
        self._spinner = Spinner(spin_ns, lambda: neighbours)
        self._slack_ns = set_timer_slack(TIMER_SLACK_NS)
        self._events = poll()
        network = [] if neighbours else epolls()
        for descriptor in network:
            self._events.register(descriptor, POLLIN)
        self._is_woken = bool(network)
        self._look_ns = LOOK_FAR_NS if network else LOOK_NS
        self._idle = 0  # how often in succession an epoll was ready, and nothing had come

    def wait(self, arrived: Callable[[], bool], meanwhile: Callable[[], None] | None = None) -> None:
        """Wait until `arrived()` or until the check raises. Call `meanwhile` between looks."""
        now = began = clock()
        while now < began + self._look_ns:
            for _ in range(4):
                if arrived():
                    return
            os.sched_yield()  # the sender may need this processor
            now = clock()
        self._spinner.spin(arrived, now)
        while True:
            for _ in range(LOOKS):  # MPI may need several to take what is there
                if arrived():
                    self._idle = 0
                    return
            self.check()
            if meanwhile is not None:
                meanwhile()
            self._sleep(min(max((clock() - began) // PATIENCE, SHORTEST_SLEEP_NS), LONGEST_SLEEP_NS))

    def _sleep(self, duration_ns: int) -> None:
        if not self._is_woken or self._idle >= MOST_IDLE:
            sleep(duration_ns / 1e9)
        elif self._events.poll(LONGEST_SLEEP_NS // 1_000_000):
            self._idle += 1

    def close(self) -> None:
        """Leave the thread as it was."""
        set_timer_slack(self._slack_ns)


def epolls() -> list[int]:
    """Descriptors of the epolls in this process."""
    found = []
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the descriptor of this very listing
            if "eventpoll" in str(path.readlink()):
                found.append(int(path.name))
    return found


def set_timer_slack(slack_ns: int) -> int:
    """Set by how much the system may prolong a sleep of this thread, 0 for the default; its value before."""
    prctl = CDLL(None).prctl
    before: int = prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0)
    prctl(_PR_SET_TIMERSLACK, slack_ns, 0, 0, 0)
    return max(before, 0)

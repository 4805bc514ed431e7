"""How long a worker looks for a message before it sleeps: on processors of its own, and less where that is in vain.

Spinning is for a machine whose processors are ours. It stops for a while where it is found that others use them
too, and becomes short where nothing comes in time.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns as clock

SPIN_NS = 200_000
PREEMPTED_NS = 100_000  # a gap like this while spinning means that the processor was taken away
REST_NS, LONGEST_REST_NS = 10_000_000, 1_000_000_000  # without spinning after that
PROBE = 16  # of the waits that are spun in vain so many are spun in full


class Spinner:
    """The spinning of one worker, at most `spin_ns` in a wait."""

    def __init__(self, spin_ns: int = SPIN_NS) -> None:
        self.spin_ns = spin_ns
        self._rested = 0  # when it may spin again
        self._rest_ns = REST_NS
        self._vain = 0  # so many times in succession nothing arrived while it was spinning

    def spin(self, arrived: Callable[[], object], now: int) -> None:
        """Return when something arrived, or when it is better to sleep."""
        if now < self._rested:
            return
        until = now + (self.spin_ns if self._vain % PROBE == 0 else self.spin_ns >> min(self._vain, 4))
        while now < until:
            for _ in range(32):
                if arrived():
                    self._vain = 0
                    return
            last, now = now, clock()
            if now - last > PREEMPTED_NS:
                self._rest(now)
                return
        self._vain += 1

    def _rest(self, now: int) -> None:
        """Others want this processor: who sleeps is woken in time, who spins uses up the time that it may run."""
        again = now - self._rested < LONGEST_REST_NS
        self._rest_ns = min(2 * self._rest_ns, LONGEST_REST_NS) if again else REST_NS
        self._rested = now + self._rest_ns

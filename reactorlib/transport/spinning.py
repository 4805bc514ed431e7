"""How long a worker looks for a message before it sleeps: long where that helps, not where others want its processor.

Who sleeps gives its processor back, and on a shared host may wait long to get one again: longer than most waits last
that are not over soon. So a worker looks on while the host has taken the other one's processor away, or its own. But
where more of this machine's own processes want to run than it has processors, who spins takes the time of those it
waits for. The kernel tells the two apart: it counts how long a thread was ready and had no processor of this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter_ns as clock

from reactorlib.transport.processors import leave_fellows

SPIN_NS = 5_000_000
SURE_NS = 200_000  # so long it spins in any case, and no longer where nobody counts; what lasts longer is a long wait
REST_NS, LONGEST_REST_NS = 10_000_000, 1_000_000_000  # without spinning, where others want the processor
WANTED = 0.1  # they do where a thread has waited for one for this part of the time
PROBE = 16  # of the long waits that are spun in vain so many are spun in full
_SCHEDSTAT = "/proc/thread-self/schedstat"  # ns that this thread ran, ns that it was ready and did not, ...


class Spinner:
    """The spinning of one worker, at most `spin_ns` in a wait. `fellows`: the threads of the other workers."""

    def __init__(self, spin_ns: int = SPIN_NS, fellows: Callable[[], Iterable[int]] = tuple) -> None:
        self.spin_ns = spin_ns
        self._fellows = fellows
        self._rested = 0  # when it may spin again
        self._rest_ns = REST_NS
        self._vain = 0  # so many long waits in succession were spun in vain
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
        if self._is_wanted(now, kept) and not leave_fellows(self._fellows()):
            self._rest(now)
            return
        until = began + (self.spin_ns if self._vain % PROBE == 0 else self.spin_ns >> min(self._vain, 4))
        while now < until:
            for _ in range(32):
                if arrived():
                    self._vain = 0
                    return
            now = clock()
        self._vain += 1

    def _is_wanted(self, now: int, kept: int) -> bool:
        """Whether others wanted this thread's processor since it was asked last."""
        last, self._looked = self._looked, (now, kept)
        return last is not None and kept - last[1] > WANTED * (now - last[0])

    def _rest(self, now: int) -> None:
        """Others want this processor: who sleeps is woken in time, who spins uses up the time that it may run."""
        again = now - self._rested < LONGEST_REST_NS
        self._rest_ns = min(2 * self._rest_ns, LONGEST_REST_NS) if again else REST_NS
        self._rested = now + self._rest_ns


def _kept_ns() -> int | None:
    """How long this thread was ready to run and had no processor, in ns; None where no such count is kept."""
    try:
        with open(_SCHEDSTAT, encoding="ascii") as file:  # noqa: PTH123  # pathlib takes longer to import than a run
            ran, kept, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return None
    return kept if ran else None  # a kernel that does not count says that it never ran

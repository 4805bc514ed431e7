"""How much a program repeats itself: asked by the program at each end of a lap. Measures nothing."""

from reactorlib import request_stop
from workloads.probe import Probe

ENDLESS = 10**9  # rounds; the meter ends them


class Meter:
    """Given to a program that repeats itself: it asks `next_lap` at each end of a lap, and stops at 0.

    The first lap is the warm-up. The engine's own stands in its place where laps have no end.
    """

    def __init__(self, warmup: int, tags: int, laps: int = 1) -> None:
        self.warmup = warmup
        self.tags = tags
        self._left = laps

    def next_lap(self) -> int:
        """End a lap. How many repetitions the next one has; 0 after the last."""
        self._left -= 1
        return self.tags if self._left >= 0 else 0


class MeteredProbe(Probe):
    """Takes the reports of a program of reactors, whose rounds are the repetitions of a meter, and ends it."""

    def __init__(self, meter: Meter) -> None:
        super().__init__(ENDLESS, 0, verify=False)
        self._meter = meter
        self._left = meter.warmup

    def round(self) -> None:
        """Count a round. After the last one, stop the program."""
        self._left -= 1
        if not self._left:
            self._left = self._meter.next_lap()
            if not self._left:
                request_stop()

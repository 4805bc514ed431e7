"""Laps of a running program in processor time and in wall time. Reads clocks, decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter_ns, process_time_ns


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took: processor time of all threads of this process, and wall time; both in ns."""

    cpu_ns: float
    wall_ns: float

    def per(self, count: int) -> Cost:
        """The cost of one of `count`."""
        return Cost(self.cpu_ns / count, self.wall_ns / count)


class Meter:
    """Given to a program that repeats itself: it asks `next_lap` at each end of a lap, and stops at 0.

    The first lap is the warm-up and is not counted. A lap is some number of tags, so that the clock is
    read rarely.
    """

    def __init__(self, warmup: int, tags: int, laps: int = 1) -> None:
        self.warmup = warmup
        self.tags = tags
        self._left = laps
        self._marks: list[tuple[int, int]] = []

    def next_lap(self) -> int:
        """End a lap. How many tags the next one has; 0 after the last."""
        self._marks.append((process_time_ns(), perf_counter_ns()))
        self._left -= 1
        return self.tags if self._left >= 0 else 0

    @property
    def costs(self) -> list[Cost]:
        """The cost of each measured lap."""
        return [Cost(b[0] - a[0], b[1] - a[1]) for a, b in self._pairs()]

    @property
    def per_tag(self) -> Cost:
        """The cost of a tag over all measured laps together."""
        (cpu, wall), (cpu_end, wall_end) = self._marks[0], self._marks[-1]
        return Cost(cpu_end - cpu, wall_end - wall).per(self.tags * (len(self._marks) - 1))

    def _pairs(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        return zip(self._marks, self._marks[1:], strict=False)

"""Tags and units of time: when something happens. Owns no clock and never waits."""

from __future__ import annotations

from typing import Final, NamedTuple


class Time(int):
    """A number of nanoseconds that knows it is one: what `5 * MSEC` gives. A bare 5 is refused where a time is wanted.

    >>> 5 * MSEC + 250 * USEC
    5250000
    >>> isinstance(2 * SEC - 1 * MSEC, Time)
    True
    """

    __slots__ = ()

    def __mul__(self, factor: float) -> Time:
        return Time(int(self) * factor)

    __rmul__ = __mul__

    def __add__(self, other: int) -> Time:
        return Time(int(self) + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> Time:
        return Time(int(self) - other)

    def __rsub__(self, other: int) -> Time:
        return Time(other - int(self))

    def __neg__(self) -> Time:
        return Time(-int(self))


NSEC: Final = Time(1)
USEC: Final = Time(1_000)
MSEC: Final = Time(1_000_000)
SEC: Final = Time(1_000_000_000)
MINUTE: Final = 60 * SEC
HOUR: Final = 60 * MINUTE


class Tag(NamedTuple):
    """A point in logical time, totally ordered.

    `time` is in nanoseconds since the start of the run, `microstep` counts the steps at that time.
    Everything at one tag is logically simultaneous.

    >>> Tag(5 * MSEC, 0) < Tag(5 * MSEC, 1) < Tag(6 * MSEC, 0)
    True
    """

    time: int
    microstep: int

    def __str__(self) -> str:
        return f"({format_ns(self.time)}, {self.microstep})"


def format_ns(time_ns: int) -> str:
    """A time in the largest unit that keeps it whole.

    >>> format_ns(1_500_000), format_ns(2_000_000_000), format_ns(0)
    ('1500 us', '2 s', '0 ns')
    """
    for size, unit in ((SEC, "s"), (MSEC, "ms"), (USEC, "us")):
        if time_ns and time_ns % size == 0:
            return f"{time_ns // size} {unit}"
    return f"{time_ns} ns"


def is_count(value: object) -> bool:
    """Whether a value can be a number of things: a positive integer.

    >>> is_count(3), is_count(0), is_count(True)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


LONGEST: Final = (1 << 63) - 1  # ns, 292 years: what fits into a message


def time_fault(value: object, what: str) -> str | None:
    """The reason why `value` is no time that `what` could be, or None if it is one.

    >>> time_fault(0, "after")
    >>> time_fault(-5, "after")
    'after must not be negative, got -5 ns'
    """
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{what} must be a time such as 5 * MSEC, got {value!r}"
    if value < 0:
        return f"{what} must not be negative, got {value} ns"
    if value > LONGEST:
        return f"{what} must be at most 292 years, got {value} ns"
    if value and not isinstance(value, Time):
        return f"{what} must have a unit: {value} * MSEC, say, not the bare number {value}"
    return None

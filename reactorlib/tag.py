"""Tags and units of time: when something happens. Owns no clock and never waits."""

from __future__ import annotations

from math import isfinite
from operator import index
from typing import Any, Final, NamedTuple


class Time(int):
    """A number of nanoseconds, such as `5 * MSEC`. A bare 5 is refused where a time is wanted.

    A fraction goes behind the unit and is rounded to the nanosecond: `0.5 * SEC` and `SEC / 2` are Python's floats.

    >>> 5 * MSEC + 250 * USEC, MSEC * 8.2, SEC // 2, SEC // MSEC
    (5250000, 8200000, 500000000, 1000)
    """

    __slots__ = ()

    def __mul__(self, factor: float) -> Time:
        return Time(round(int(self) * _number(factor)))

    __rmul__ = __mul__

    def __add__(self, other: int) -> Time:
        return Time(round(int(self) + _number(other)))

    __radd__ = __add__

    def __sub__(self, other: int) -> Time:
        return Time(round(int(self) - _number(other)))

    def __floordiv__(self, other: float) -> int:
        quotient = round(int(self) // _number(other))
        return quotient if isinstance(other, Time) else Time(quotient)  # how often one fits into another is a number

    def __mod__(self, other: int) -> Time:
        return Time(round(int(self) % _number(other)))


def _number(given: float) -> float:
    """An operand as a number of Python's, as NumPy's small ones would overflow."""
    if hasattr(given, "__index__"):
        return index(given)
    number = float(0 + given)  # a text is none, although float takes it
    if not isfinite(number):
        raise OverflowError(f"a time is finite, got a unit with {number}: for no limit, leave the time out")
    return number


NSEC: Final = Time(1)
USEC: Final = Time(1_000)
MSEC: Final = Time(1_000_000)
SEC: Final = Time(1_000_000_000)
MINUTE: Final = 60 * SEC
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

# The names of units in texts.
UNITS: Final = {
    name: unit
    for unit, names in ((NSEC, "ns nsec nsecs"), (USEC, "us usec usecs"), (MSEC, "ms msec msecs"),
                        (SEC, "s sec secs second seconds"), (MINUTE, "min mins minute minutes"),
                        (HOUR, "h hour hours"), (DAY, "d day days"), (7 * DAY, "week weeks"))
    for name in names.split()
}  # fmt: skip


class Tag(NamedTuple):
    """A point in logical time: ns since the start of the run, and the number of the step at that time.

    >>> Tag(5 * MSEC, 0) < Tag(5 * MSEC, 1) < Tag(6 * MSEC, 0)
    True
    """

    time: int
    microstep: int

    def __str__(self) -> str:
        return f"({format_ns(self.time)}, {self.microstep})"


def format_ns(time_ns: int) -> str:
    """A time in the largest unit that keeps it whole, such as `1500 us`."""
    for size, unit in ((SEC, "s"), (MSEC, "ms"), (USEC, "us")):
        if time_ns and time_ns % size == 0:
            return f"{time_ns // size} {unit}"
    return f"{time_ns} ns"


def _whole(value: Any) -> int | None:
    """An integer as Python's, None for any other value."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def count_fault(value: object, what: str) -> str | None:
    """The reason why `value` is no positive integer, Python's or NumPy's, for `what`. None if it is one."""
    number = _whole(value)
    return None if number is not None and number >= 1 else f"{what} must be a positive integer, got {value!r}"


LONGEST: Final = (1 << 63) - 1  # ns, 292 years: what fits into a message. An event as late as that never happens


def time_fault(value: object, what: str) -> str | None:
    """The reason why `value` is no time for the parameter `what`. None if it is one: `int(value)` ns.

    >>> time_fault(-5, "after")
    'after must not be negative, got -5 ns'
    """
    number = _whole(value)
    if number is None:
        hint = ": a float goes behind the unit: SEC * 0.5 or SEC // 2" if isinstance(value, float) else ""
        return f"{what} must be a time such as 5 * MSEC, got {value!r}{hint}"
    if number < 0:
        return f"{what} must not be negative, got {number} ns"
    if number > LONGEST:
        return f"{what} must be at most 292 years, got {number} ns"
    if number and not isinstance(value, Time):
        return f"{what} must have a unit: {number} * NSEC if {number} is in nanoseconds, else {number} * MSEC, say"
    return None

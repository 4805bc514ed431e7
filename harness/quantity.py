"""Numbers with their units as a reader meets them, in tables and figures: 12.3 ms, 1.4 GiB, 8,412 steps/s."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from harness.stats.intervals import FEW, Estimate

_TIMES = ((60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes"))
_UNITS = {"ns": _TIMES, "bytes": _SIZES}
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_DURATIONS = ((1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns"))


def has_prefixes(unit: str) -> bool:
    """Whether a unit comes in larger and smaller versions."""
    return unit in _UNITS


def scale(value: float, unit: str) -> tuple[float, str]:
    """The divisor and name of the unit in which a value reads best.

    A unit of time may be per something ("ns/step"); a unit without prefixes is returned as it is.
    """
    name, slash, per = unit.partition("/")
    steps = _UNITS.get(name, ((1.0, name),))
    divisor, chosen = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    return divisor, f"{chosen}{slash}{per}"


def show(value: float, unit: str) -> str:
    """A value with its unit."""
    divisor, name = scale(value, unit)
    return f"{number(value / divisor)} {name}"


def number(value: float) -> str:
    """Three significant digits, or all before the point, with thousands separated."""
    if value == 0:
        return "0"
    if abs(value) >= 1e12:
        return f"{value:.0e}"
    for decimals in range(9):
        if abs(value) >= 10 ** (2 - decimals) * 0.9995:  # numbers that round up to it have as few
            return f"{value:,.{decimals}f}"
    return f"{value:.2g}"


def estimated(estimate: Estimate, sign: str = "", *, write: Callable[[float], str] = number) -> str:
    """A value with its interval: 1.52x [1.40, 1.61]. `sign`: what follows the value alone.

    Too few trials have no interval.
    """
    interval = f" [{write(estimate.low)}, {write(estimate.high)}]" if estimate.count > FEW else ""
    return f"{write(estimate.value)}{sign}{interval}"


def duration_s(seconds: float) -> str:
    """How long something takes: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def ratio(estimate: Estimate) -> str:
    """A ratio with its interval, in as many digits as mean something."""
    return estimated(estimate, "x", write=_digits)


def times(value: float) -> str:
    """A ratio without its interval."""
    return f"{_digits(value)}x"


def _digits(value: float) -> str:
    if value >= 10_000:  # the end of an interval of two trials may be anywhere
        return "over 10,000"
    if value < 0.01:
        return f"{value:.1g}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def compact(value: float) -> str:
    """Three significant digits and a prefix: 257000 -> '257k', 62 -> '62.0', 0.0123 -> '0.0123'."""
    return _in_steps(value, _PREFIXES, number)


def tick(value: float) -> str:
    """A round number with a prefix, for an axis: 250 -> '250', 1500 -> '1.5k'."""
    return _in_steps(value, _PREFIXES, "{:g}".format)


def count(value: float) -> str:
    """A whole number with its thousands apart: 2000 -> '2,000'."""
    return f"{value:,.0f}"


def duration(nanoseconds: float) -> str:
    """Three significant digits in the unit that suits: 10200000 -> '10.2 ms'."""
    return _in_steps(nanoseconds, _DURATIONS, number)


def duration_tick(nanoseconds: float) -> str:
    """A round duration, for an axis: 20000 -> '20 µs'."""
    return _in_steps(nanoseconds, _DURATIONS, "{:g}".format) if nanoseconds else "0"


def size(octets: float) -> str:
    """Bytes with a binary prefix, or a decimal one where that is round: 10485760 -> '10 MiB', 1000 -> '1 kB'."""
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if octets >= factor and octets % factor == 0 and octets % 2**20:
            return f"{octets // factor:.0f} {unit}"
    for factor, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if octets >= factor:
            return f"{octets / factor:.{4 if octets >= 1000 * factor else 3}g} {unit}"
    return f"{octets:.0f} B"


def ticks(low: float, high: float, most: int) -> list[float]:
    """At most about `most` round numbers for a logarithmic axis from `low` to `high` (both positive)."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found: list[float] = []
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        numbers = (mantissa * 10.0**power for power in range(first, last + 1) for mantissa in mantissas)
        found = [number for number in numbers if low <= number <= high]
        if len(found) <= most:
            break
    return found[:: math.ceil(len(found) / most) or 1]


def parameter(name: str, value: Any) -> str:
    """A parameter in words: '15 actors', '1 step per message', 'minibatch 500'."""
    if name == "work_seconds":
        return f"{value:g} s of simulated work" if value else "no simulated work"
    if name == "object_bytes":
        return f"{size(value)} objects"
    if name in ("actors", "agents"):
        return counted(value, name.removesuffix("s"))
    return f"{counted(value, 'step')} per message" if name == "steps_per_message" else f"{name} {value}"


def counted(count: int, noun: str) -> str:
    """A number of things: 1 -> '1 actor', 2000 -> '2,000 actors'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def from_to(values: Iterable[float], write: Callable[[float], str] = count) -> str:
    """The lowest and the highest of some numbers: `3 to 5`, or `5` where both read so. Empty of none."""
    found = sorted(values)
    return " to ".join(dict.fromkeys(map(write, (*found[:1], *found[-1:]))))


def _in_steps(value: float, steps: Sequence[tuple[float, str]], text: Callable[[float], str]) -> str:
    """A value in the first of these units that it reaches, the last of which is the smallest."""
    *larger, (_, smallest) = steps
    factor, unit = next(((one, name) for one, name in larger if abs(value) >= 0.9995 * one), (1.0, smallest))
    return f"{text(value / factor)}{unit}"

"""Numbers as a reader meets them in a figure. Owns rounding and unit prefixes; knows no figure."""

import math
from collections.abc import Callable, Mapping
from typing import Any

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def compact(value: float) -> str:
    """Three significant digits and a prefix: 257000 -> '257k', 62 -> '62.0', 0.0123 -> '0.0123'."""
    for factor, prefix in _PREFIXES:
        if abs(value) >= 0.9995 * factor:
            return _three_digits(value / factor) + prefix
    return _three_digits(value)


def tick(value: float) -> str:
    """A round number with a prefix, for an axis: 250 -> '250', 1500 -> '1.5k'."""
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor:
            return f"{value / factor:g}{prefix}"
    return f"{value:g}"


def count(value: float) -> str:
    """A whole number with its thousands apart: 2000 -> '2,000'."""
    return f"{value:,.0f}"


def duration(nanoseconds: float) -> str:
    """Three significant digits in the unit that suits: 10200000 -> '10.2 ms'."""
    return _timed(nanoseconds, _three_digits)


def duration_tick(nanoseconds: float) -> str:
    """A round duration, for an axis: 20000 -> '20 µs'."""
    return _timed(nanoseconds, "{:g}".format)


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
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        found = _within(low, high, mantissas)
        if len(found) <= most:
            break
    stride = math.ceil(len(found) / most) or 1
    return found[::stride]


def sentence(setting: Mapping[str, Any]) -> str:
    """The parameters that a figure keeps fixed, in words: '15 actors, 1 step per message, minibatch 500'."""
    return ", ".join(_phrase(name, value) for name, value in sorted(setting.items()))


def _phrase(name: str, value: Any) -> str:
    if name == "actors":
        return counted(value, "actor")
    if name == "agents":
        return counted(value, "agent")
    if name == "object_bytes":
        return f"{size(value)} objects"
    if name == "steps_per_message":
        return f"{counted(value, 'step')} per message"
    if name == "representation":
        return f"messages in {value}"
    if name == "step_busy_us":
        return f"steps of {value:g} µs or more" if value else "steps as fast as they are"
    if name == "work_seconds":
        return f"{value:g} s of simulated work" if value else "no simulated work"
    return f"{name} {value}"


def counted(count: int, noun: str) -> str:
    """So many of something: 1 -> '1 actor', 2000 -> '2,000 actors'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _timed(nanoseconds: float, text: Callable[[float], str]) -> str:
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(nanoseconds) >= 0.9995 * factor:
            return f"{text(nanoseconds / factor)} {unit}"
    return f"{text(nanoseconds)} ns"


def _three_digits(value: float) -> str:
    if value == 0:
        return "0"
    value = float(f"{value:.3g}")  # 0.9996 is 1.00, not 1.000
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def _within(low: float, high: float, mantissas: tuple[int, ...]) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    numbers = [mantissa * 10.0**power for power in range(first, last + 1) for mantissa in mantissas]
    return [number for number in numbers if low <= number <= high]

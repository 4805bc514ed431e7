"""Numbers with their units as a reader wants them: 12.3 ms, 1.4 GiB, 8,412 steps/s. Computes nothing."""

from collections.abc import Callable, Sequence

from harness.stats import Estimate

_TIMES = ((60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes"))
_UNITS = {"ns": _TIMES, "bytes": _SIZES}


def has_prefixes(unit: str) -> bool:
    """Whether a unit comes in larger and smaller versions."""
    return unit in _UNITS


def scale(values: Sequence[float], unit: str) -> tuple[float, str]:
    """The divisor and name of the unit in which the largest of the values reads best.

    A unit of time may be per something ("ns/step"); a unit without prefixes is returned as it is.
    """
    name, slash, per = unit.partition("/")
    steps = _UNITS.get(name, ((1.0, name),))
    largest = max((abs(value) for value in values), default=0.0)
    divisor, chosen = next((step for step in steps if largest >= step[0]), steps[-1])
    return divisor, f"{chosen}{slash}{per}"


def show(value: float, unit: str) -> str:
    """A value with its unit."""
    divisor, name = scale([value], unit)
    return f"{number(value / divisor)} {name}"


def number(value: float) -> str:
    """Three significant digits, or all before the point, with thousands separated."""
    if value == 0:
        return "0"
    if abs(value) >= 1e12:
        return f"{value:.0e}"
    for decimals in range(9):
        if abs(value) >= 10 ** (2 - decimals) * 0.9995:  # what rounds up to it has as few
            return f"{value:,.{decimals}f}"
    return f"{value:.2g}"


def estimated(estimate: Estimate, sign: str = "", *, beyond: int = 1, write: Callable[[float], str] = number) -> str:
    """A value with its interval: 1.52x [1.40, 1.61]. `sign`: what follows the value alone.

    `beyond`: of no more trials than this the interval says nothing, and is left out, unless it borrows from others.
    """
    says = estimate.count > beyond or estimate.borrows
    interval = f" [{write(estimate.low)}, {write(estimate.high)}]" if says else ""
    return f"{write(estimate.value)}{sign}{interval}"


def duration(seconds: float) -> str:
    """How long something takes: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

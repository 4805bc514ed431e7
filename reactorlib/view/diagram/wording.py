"""The words of a diagram's elements: widths, times, delays, deadlines, levels and workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from reactorlib import Timer
from reactorlib.declaration.instance import Bound, BoundPort, BoundTrigger, Connection
from reactorlib.tag import format_ns


def port_name(ports: Sequence[BoundPort]) -> str:
    """`request`, `reply[4]`, or `reply[…]` if the members of a bank differ."""
    if not ports[0].multi:
        return ports[0].name
    widths = {port.width for port in ports}
    return f"{ports[0].name}[{ports[0].width if len(widths) == 1 else '…'}]"


def timing(bounds: Sequence[Bound]) -> tuple[str, ...]:
    """The times of a timer or an action."""
    lines = {_timing(bound) for bound in bounds}
    return lines.pop() if len(lines) == 1 else ("times differ by member",)


def _timing(bound: Bound) -> tuple[str, ...]:
    assert isinstance(bound, BoundTrigger)
    if isinstance(bound.declaration, Timer):
        if not bound.period:
            return (f"once at {_time(bound.delay)}",)
        start = f"from {_time(bound.delay)}, " if bound.delay else ""
        return (f"{start}every {_time(bound.period)}",)
    lines = [f"after {_time(bound.delay)}"] if bound.delay else []
    if bound.min_spacing is not None:
        lines.append(f"spacing {_time(bound.min_spacing)}, {bound.declaration.policy or 'defer'}")
    return tuple(lines)


def connection_label(connection: Connection) -> str:
    """`after 5 ms`, `physical`, or nothing."""
    words = ["physical"] if connection.physical else []
    if connection.after is not None:
        words.append(f"after {_time(connection.after)}")
    return ", ".join(words)


def deadline(times: Iterable[int | None]) -> tuple[str, ...]:
    """`deadline 10 ms`, or no line."""
    different = set(times)
    if len(different) > 1:
        return ("deadline differs by member",)
    return tuple(f"deadline {_time(time)}" for time in different if time is not None)


def numbers(noun: str, values: Iterable[int]) -> str:
    """A noun with its numbers, where three or more in a row become a range.

    >>> numbers("level", [2, 2]), numbers("worker", [0, 1, 2, 4])
    ('level 2', 'workers 0-2, 4')
    """
    known = sorted(set(values))
    runs = [[value for _, value in run] for _, run in groupby(enumerate(known), key=lambda pair: pair[1] - pair[0])]
    shown = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return f"{noun}{'s' if len(known) > 1 else ''} {shown}"


def summary(thing: Any) -> str:
    """The first line of a docstring, or nothing."""
    return (getattr(thing, "__doc__", None) or "").strip().partition("\n")[0]


def _time(time_ns: int) -> str:
    return format_ns(time_ns) if time_ns else "0"

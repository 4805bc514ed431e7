"""How elements are worded in a diagram: widths, times, delays, levels, workers. Short, for a symbol's few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reactorlib.declaration.elements import Action
from reactorlib.declaration.instance import Bound, BoundAction, BoundPort, BoundTimer, Connection
from reactorlib.tag import format_ns


def alike(texts: Iterable[str], otherwise: str) -> str:
    """What the members of a folded bank have in common, or `otherwise`."""
    different = list(dict.fromkeys(texts))
    return different[0] if len(different) == 1 else otherwise


def port_name(ports: Sequence[BoundPort]) -> str:
    """`request`, `reply[4]`."""
    if not ports[0].multi:
        return ports[0].name
    return alike((f"{port.name}[{port.width}]" for port in ports), f"{ports[0].name}[…]")


def timing(bounds: Sequence[Bound]) -> tuple[str, ...]:
    """The times of a timer or action, the same for all members of a folded bank or said to differ."""
    lines = [_timing(bound) for bound in bounds]
    return lines[0] if len(set(lines)) == 1 else ("times differ by member",)


def _timing(bound: Bound) -> tuple[str, ...]:
    if isinstance(bound, BoundTimer):
        if not bound.period:
            return (f"once at {_time(bound.offset)}",)
        start = f"from {_time(bound.offset)}, " if bound.offset else ""
        return (f"{start}every {_time(bound.period)}",)
    assert isinstance(bound, BoundAction)
    assert isinstance(bound.declaration, Action)
    lines = [f"after {_time(bound.min_delay)}"] if bound.min_delay else []
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
    """`deadline 10 ms`."""
    known = ["" if time is None else f"deadline {_time(time)}" for time in times]
    shown = alike(known, "deadline differs by member")
    return (shown,) if shown else ()


def numbers(noun: str, values: Iterable[int]) -> str:
    """`worker 1`, `workers 0-3`, `levels 1, 4`.

    >>> numbers("level", [2, 2]), numbers("worker", [0, 1, 2, 4])
    ('level 2', 'workers 0-2, 4')
    """
    known = sorted(set(values))
    runs: list[list[int]] = []
    for value in known:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    shown = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return f"{noun}{'s' if len(known) > 1 else ''} {shown}"


def summary(thing: Any) -> str:
    """The first line of a docstring, if there is one."""
    lines = (getattr(thing, "__doc__", None) or "").strip().splitlines()
    return lines[0] if lines else ""


def _time(time_ns: int) -> str:
    return format_ns(time_ns) if time_ns else "0"

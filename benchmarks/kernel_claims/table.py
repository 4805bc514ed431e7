"""What the kernel claims: paths, what is made of their costs, and the limits. A table; measures nothing.

A machine's pace differs from another's, and from its own an hour ago. So what has a limit is a ratio to something
else that took its turns beside it: to the same with other sizes, to another runtime, or to a plain Python loop's call
of a method, which says in calls what a reaction costs. Times alone inform.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks import paths
from benchmarks.meter import Meter
from benchmarks.paths import Path
from benchmarks.shapes import FanOut
from benchmarks.structures import AllToAll, Tree
from reactorlib import Program, Reactor, elaborate


@dataclass(frozen=True)
class Cost:
    """CPU time of a part of a path's round, of which there are `per`; or the wall time."""

    path: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    per: int = 1
    wall: bool = False


@dataclass(frozen=True)
class Row:
    """A line: a cost, or with `beyond` how much more that is than another; in us, or with `over` in how many of those.

    Without a limit it informs.
    """

    name: str
    cost: Cost
    beyond: Cost | None = None
    over: Cost | None = None
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""


# A method's call in a plain Python loop.
CALL = Cost(paths.calls, {"count": 100}, per=100)


@dataclass(frozen=True)
class Size:
    """Everything that a shorter measurement would change. `blocks`: of fresh processes."""

    blocks: int = 5
    sweeps: int = 16
    many_clients: int = 4_096
    few_reactors: int = 100
    many_reactors: int = 100_000
    bank: int = 4_000
    growth: int = 4  # a program is compared with one so many times larger
    tree_depth: int = 5
    tree_children: int = 4
    all_to_all: int = 50
    timers: int = 1_000
    processes: int = 15
    loop_tags: int = 10_000_000
    lines: int = 1_000  # of a program's text


TINY = Size(
    blocks=1, sweeps=2, many_clients=64, few_reactors=10, many_reactors=100, bank=50, tree_depth=2, tree_children=2,
    all_to_all=4, timers=20, processes=2, loop_tags=20_000, lines=100,
)  # fmt: skip


def _fan_out(_size: Size) -> Iterator[Row]:
    name, ours = "fan-out to 16 and gather", Cost(paths.fan_out, {"clients": 16}, per=17)
    yield Row(f"{name}: a reaction", ours)
    yield Row(f"{name}: a reaction / a plain call", ours, over=CALL, at_most=5)
    yield from _against_xronos(name, ours, Cost(paths.fan_out_on_xronos, per=17), 5)


def _ping_pong(_size: Size) -> Iterator[Row]:
    ours = Cost(paths.ping_pong, per=2)
    yield Row("ping-pong: a reaction", ours)
    yield from _against_xronos("ping-pong", ours, Cost(paths.ping_pong_on_xronos, per=2), 2)


def _against_xronos(name: str, ours: Cost, theirs: Cost, at_least: float) -> Iterator[Row]:
    yield Row(f"{name} on xronos: a reaction", theirs)
    yield Row(f"{name}: xronos / reactorlib", theirs, over=ours, at_least=at_least, note="CPU time, of all threads")
    wall = [Cost(one.path, one.parameters, one.per, wall=True) for one in (theirs, ours)]
    yield Row(f"{name}: xronos / reactorlib, wall time", wall[0], over=wall[1], at_least=at_least)


def _many_clients(size: Size) -> Iterator[Row]:
    many, few = (Cost(paths.fan_out, {"clients": count}, per=count + 1) for count in (size.many_clients, 16))
    yield Row(f"a reaction with {size.many_clients:,} clients / with 16", many, over=few, at_most=1.5)


def _tags(_size: Size) -> Iterator[Row]:
    yield Row("a tag of an `after` 0 loop", Cost(paths.loop))
    yield Row("a tag of a logical action, now", Cost(paths.actions, {"delay_us": 0}))
    yield Row("a tag of a logical action, 1 us later", Cost(paths.actions, {"delay_us": 1}))


def _tracing(_size: Size) -> Iterator[Row]:
    before, after = (Cost(paths.fan_out, {"clients": 16, "after_trace": traced}) for traced in (False, True))
    yield Row("trace off: after a run with a trace / before", after, over=before, at_most=1.05, note="nothing is left")
    off, on = (Cost(paths.fan_out, {"clients": 16, "trace": traced}, per=17) for traced in (False, True))
    yield Row("trace on: added to a reaction", on, beyond=off)
    yield Row("trace on: added to a reaction / a plain call", on, beyond=off, over=CALL, at_most=20)


def _timers(size: Size) -> Iterator[Row]:
    many, few = size.timers, max(2, size.timers // 100)
    compiled = Cost(paths.many_timers, {"count": many}, per=many)
    walked, fewer = (Cost(paths.many_timers, {"count": count, "walked": True}, per=count) for count in (many, few))
    yield Row(f"{many:,} timers: a reaction with its tag", compiled)
    yield Row(f"{many:,} timers: the same, walked", walked)
    yield Row(f"walked: {many:,} timers / {few}", walked, over=fewer, at_most=1.5)


def _elaboration(size: Size) -> Iterator[Row]:
    bank = Cost(paths.elaboration, {"clients": size.bank}, per=size.bank)
    yield Row(f"elaborating a bank of {size.bank:,}: a reactor", bank)
    yield Row(f"elaborating a bank of {size.bank:,}: a reactor / a plain call", bank, over=CALL, at_most=1_500)
    children = {"children": size.tree_children}
    for what, cls, small, large in (
        ("banks", FanOut, {"clients": size.bank}, {"clients": size.bank * size.growth}),
        ("hierarchies", Tree, {"depth": size.tree_depth, **children}, {"depth": size.tree_depth + 1, **children}),
        ("all-to-all", AllToAll, {"width": size.all_to_all}, {"width": size.all_to_all * round(size.growth**0.5)}),
    ):
        counts = [links(made(cls, parameters)) for parameters in (small, large)]
        for phase, path in (("elaborating", paths.elaboration), ("starting", paths.start)):
            less, more = (
                Cost(path, {"shape": cls.__name__, **parameters}, per=count)
                for parameters, count in zip((small, large), counts, strict=True)
            )
            name = f"{phase} {what}, per link: {counts[1]:,} / {counts[0]:,}"
            yield Row(name, more, over=less, at_most=1.5)


def _lingua_franca(size: Size) -> Iterator[Row]:
    name, line = f"{size.lines:,} lines of Lingua Franca", Cost(paths.front_end, {"lines": size.lines}, per=size.lines)
    yield Row(f"reading and elaborating {name}: a line", line)
    yield Row(f"reading and elaborating {name}: a line / a plain call", line, over=CALL, at_most=2_000)


def _idle(size: Size) -> Iterator[Row]:
    for waiting, what in ((False, "idle reactors"), (True, "reactors with a waiting timer each")):
        few, many = (
            Cost(paths.idle, {"reactors": count, "waiting": waiting})
            for count in (size.few_reactors, size.many_reactors)
        )
        yield Row(f"a tag among {size.many_reactors:,} {what} / {size.few_reactors}", many, over=few, at_most=1.5)


def made(cls: type[Reactor], parameters: Mapping[str, int]) -> Program:
    """A program of a shape."""
    return elaborate(cls, meter=Meter(1, 1), **parameters)


def links(program: Program) -> int:
    """Channels of ports, and of connections."""
    connected = sum(len(connection.targets) for instance in program.instances for connection in instance.connections)
    return program.channels + connected


# The table, by part; subjects of a part are measured beside each other.
PARTS: Mapping[str, Callable[[Size], Iterator[Row]]] = {
    "fan-out": _fan_out,
    "ping-pong": _ping_pong,
    "many-clients": _many_clients,
    "tags": _tags,
    "tracing": _tracing,
    "timers": _timers,
    "elaboration": _elaboration,
    "lingua-franca": _lingua_franca,
    "idle": _idle,
}

"""The claims of the kernel: costs, derived values, and the limits. A table; measures nothing.

A machine's pace differs from another's, and from its own an hour ago. So a limit is on a ratio to something that took
its turns beside it. That is the same with other sizes, another runtime, or a call of a method in a plain Python loop.
Times alone inform.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks import paths
from benchmarks.meter import Meter
from benchmarks.shapes import FanOut
from benchmarks.structures import AllToAll, Tree
from harness.measure.measured_processes import workload_order
from reactorlib import Program, Reactor, elaborate


@dataclass(frozen=True)
class Cost:
    """CPU time, or the wall time, of a part of a subject's round, of which there are `per`."""

    order: Mapping[str, Any]
    per: int = 1
    wall: bool = False

    @property
    def name(self) -> str:
        """The same for costs of one subject."""
        return json.dumps(self.order, sort_keys=True)


def cost(path: paths.Path, per: int = 1, **parameters: Any) -> Cost:
    """The cost of a path of the kernel."""
    return Cost(paths.order(path, **parameters), per)


@dataclass(frozen=True)
class Row:
    """A line of the table: a cost in us.

    With `beyond`, that cost is subtracted. With `over`, the rest is divided by that one. A line without a limit only
    informs.
    """

    name: str
    cost: Cost
    beyond: Cost | None = None
    over: Cost | None = None
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def costs(self) -> list[Cost]:
        return [one for one in (self.cost, self.beyond, self.over) if one is not None]


# A method's call in a plain Python loop.
CALL = cost(paths.calls, per=100, count=100)


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
    name, ours = "fan-out to 16 and gather", cost(paths.fan_out, per=17, clients=16)
    yield Row(f"{name}: a reaction", ours)
    yield Row(f"{name}: a reaction / a plain call", ours, over=CALL, at_most=5)
    yield from _against_xronos(name, "fan_out", 17, 5)


def _ping_pong(_size: Size) -> Iterator[Row]:
    yield Row("ping-pong: a reaction", cost(paths.ping_pong, per=2))
    yield from _against_xronos("ping-pong", "ping_pong", 2, 2)


def _against_xronos(name: str, shape: str, per: int, at_least: float) -> Iterator[Row]:
    parameters = {"shape": shape, "actors": per - (shape == "fan_out"), "messages_per_round": 100}
    for told, wall in (("CPU time, of all threads", False), ("wall time", True)):
        theirs, ours = (
            Cost(workload_order("overhead", backend, parameters), 100 * per, wall)
            for backend in ("xronos", "reactor-inline")
        )
        yield Row(f"{name}: xronos / reactorlib, {told}", theirs, over=ours, at_least=at_least)


def _many_clients(size: Size) -> Iterator[Row]:
    many, few = (cost(paths.fan_out, per=count + 1, clients=count) for count in (size.many_clients, 16))
    yield Row(f"a reaction with {size.many_clients:,} clients / with 16", many, over=few, at_most=1.5)


def _tags(_size: Size) -> Iterator[Row]:
    yield Row("a tag of an `after` 0 loop", cost(paths.loop))
    yield Row("a tag of a logical action, now", cost(paths.actions, delay_us=0))
    yield Row("a tag of a logical action, 1 us later", cost(paths.actions, delay_us=1))


def _tracing(_size: Size) -> Iterator[Row]:
    before, after = (cost(paths.fan_out, clients=16, after_trace=traced) for traced in (False, True))
    yield Row("trace off: after a run with a trace / before", after, over=before, at_most=1.05, note="nothing is left")
    off, on = (cost(paths.fan_out, per=17, clients=16, trace=traced) for traced in (False, True))
    yield Row("trace on: added to a reaction", on, beyond=off)
    yield Row("trace on: added to a reaction / a plain call", on, beyond=off, over=CALL, at_most=20)


def _timers(size: Size) -> Iterator[Row]:
    many, few = size.timers, max(2, size.timers // 100)
    walked, fewer = (cost(paths.timers, per=count, count=count, walked=True) for count in (many, few))
    yield Row(f"{many:,} timers: a reaction with its tag", cost(paths.timers, per=many, count=many))
    yield Row(f"{many:,} timers: the same, walked", walked)
    yield Row(f"walked: {many:,} timers / {few}", walked, over=fewer, at_most=1.5)


def _elaboration(size: Size) -> Iterator[Row]:
    bank = cost(paths.elaboration, per=size.bank, clients=size.bank)
    yield Row(f"elaborating a bank of {size.bank:,}: a reactor", bank)
    yield Row(f"elaborating a bank of {size.bank:,}: a reactor / a plain call", bank, over=CALL, at_most=1_500)
    children = {"children": size.tree_children}
    for what, cls, small, large in (
        ("banks", FanOut, {"clients": size.bank}, {"clients": size.bank * size.growth}),
        ("hierarchies", Tree, {"depth": size.tree_depth, **children}, {"depth": size.tree_depth + 1, **children}),
        ("all-to-all", AllToAll, {"width": size.all_to_all}, {"width": size.all_to_all * round(size.growth**0.5)}),
    ):
        sizes = [(links(made(cls, parameters)), parameters) for parameters in (small, large)]
        for phase, path in (("elaborating", paths.elaboration), ("starting", paths.start)):
            less, more = (cost(path, per=count, shape=cls.__name__, **parameters) for count, parameters in sizes)
            name = f"{phase} {what}, per link: {more.per:,} / {less.per:,}"
            yield Row(name, more, over=less, at_most=1.5)


def _lingua_franca(size: Size) -> Iterator[Row]:
    name, line = f"{size.lines:,} lines of Lingua Franca", cost(paths.front_end, per=size.lines, lines=size.lines)
    yield Row(f"reading and elaborating {name}: a line", line)
    yield Row(f"reading and elaborating {name}: a line / a plain call", line, over=CALL, at_most=2_000)


def _idle(size: Size) -> Iterator[Row]:
    timers = "reactors with a waiting timer each"
    shapes = (
        ("Quiet", "a tag", "idle reactors"),
        ("QuietTimers", "a tag", timers),
        ("QuietSwitches", "a switch", timers),
    )
    for shape, tag, what in shapes:
        few, many = (cost(paths.idle, reactors=count, shape=shape) for count in (size.few_reactors, size.many_reactors))
        yield Row(f"{tag} among {size.many_reactors:,} {what} / {size.few_reactors}", many, over=few, at_most=1.5)


def made(cls: type[Reactor], parameters: Mapping[str, int]) -> Program:
    """A program of a shape."""
    return elaborate(cls, meter=Meter(1, 1), **parameters)


def links(program: Program) -> int:
    """Channels of ports, and of connections."""
    connected = sum(len(connection.targets) for instance in program.instances for connection in instance.connections)
    return len(program.cell_of) + connected


# The table, by part. The subjects of a part are measured in turns.
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

"""The claims of the kernel: costs, derived values, and the limits. A table; measures nothing.

A machine's pace differs from another's, and from its own an hour ago. So a limit is on a ratio to something that took
its turns beside it. That is the same with other sizes, or a call of a method in a plain Python loop. Times alone
inform.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks import paths
from workloads.overhead.task import Task


@dataclass(frozen=True)
class Cost:
    """CPU time of a part of a subject's round, of which there are `per`."""

    order: Mapping[str, Any]
    per: int = 1

    @property
    def name(self) -> str:
        """The same for costs of one subject."""
        return json.dumps(self.order, sort_keys=True)


def cost(path: paths.Path, per: int = 1, **parameters: Any) -> Cost:
    """The cost of a path of the kernel."""
    return Cost(paths.order(path, **parameters), per)


def of_shape(name: str, actors: int = 0, messages: int = 0, **more: bool) -> Cost:
    """The cost of a reaction in a shape of `overhead`."""
    task = Task(name, actors, messages)
    return cost(paths.overhead, task.units_per_round, shape=name, actors=actors, messages=messages, **more)


@dataclass(frozen=True)
class Row:
    """A line of the table: a cost in us, or with `over` its ratio to that one. Without a limit, a line only informs."""

    name: str
    cost: Cost
    over: Cost | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def costs(self) -> list[Cost]:
        return [self.cost] if self.over is None else [self.cost, self.over]


# A method's call in a plain Python loop.
CALL = cost(paths.calls, per=100, count=100)


@dataclass(frozen=True)
class Size:
    """Everything that a shorter measurement would change. `blocks`: of fresh processes."""

    blocks: int = 5
    sweeps: int = 16
    many_clients: int = 4_096
    many_reactors: int = 100_000
    bank: int = 4_000
    depth: int = 5  # of a tree
    width: int = 50  # of banks that are connected all to all
    timers: int = 1_000
    processes: int = 15
    rounds: int = 10_000  # of 1,000 tags each
    lines: int = 1_000  # of a program's text


TINY = Size(
    blocks=1, sweeps=2, many_clients=64, many_reactors=200, bank=50, depth=2, width=4, timers=20, processes=2,
    rounds=100, lines=100,
)  # fmt: skip


def _fan_out(_size: Size) -> Iterator[Row]:
    name, ours = "fan-out to 16 and gather", of_shape("fan_out", 16)
    yield Row(f"{name}: a reaction", ours)
    yield Row(f"{name}: a reaction / a plain call", ours, over=CALL, at_most=5)


def _ping_pong(_size: Size) -> Iterator[Row]:
    yield Row("ping-pong: a reaction", of_shape("ping_pong"))


def _many_clients(size: Size) -> Iterator[Row]:
    many, few = (of_shape("fan_out", clients, messages=20) for clients in (size.many_clients, 16))
    yield Row(f"a reaction with {size.many_clients:,} clients / with 16", many, over=few, at_most=1.5)


def _tags(_size: Size) -> Iterator[Row]:
    yield Row("a tag of an `after` 0 ring", of_shape("thread_ring"))
    yield Row("a tag of a logical action, now", cost(paths.actions, delay_us=0))
    yield Row("a tag of a logical action, 1 us later", cost(paths.actions, delay_us=1))


def _tracing(_size: Size) -> Iterator[Row]:
    before, after = (of_shape("fan_out", 16, after_trace=traced) for traced in (False, True))
    yield Row("trace off: after a run with a trace / before", after, over=before, at_most=1.05, note="nothing is left")
    traced = of_shape("fan_out", 16, trace=True)
    yield Row("trace on: a reaction", traced)
    yield Row("trace on: a reaction / a plain call", traced, over=CALL, at_most=25)


def _timers(size: Size) -> Iterator[Row]:
    many, few = size.timers, max(2, size.timers // 100)
    walked, fewer = (of_shape("timers", count, walked=True) for count in (many, few))
    yield Row(f"{many:,} timers: a reaction with its tag", of_shape("timers", many))
    yield Row(f"{many:,} timers: the same, walked", walked)
    yield Row(f"walked: {many:,} timers / {few}", walked, over=fewer, at_most=1.5)


def _elaboration(size: Size) -> Iterator[Row]:
    bank = cost(paths.elaboration, per=size.bank, clients=size.bank)
    yield Row(f"elaborating a bank of {size.bank:,}: a reactor", bank)
    yield Row(f"elaborating a bank of {size.bank:,}: a reactor / a plain call", bank, over=CALL, at_most=1_500)
    grown = (
        ("Star", "client", [(count, {"clients": count}) for count in (size.bank, 4 * size.bank)]),
        ("Tree", "leaf", [(4**depth, {"depth": depth, "children": 4}) for depth in (size.depth, size.depth + 1)]),
        ("AllToAll", "connection", [(width**2, {"width": width}) for width in (size.width, 2 * size.width)]),
    )
    for shape, unit, sizes in grown:
        for phase, path in (("elaborating", paths.elaboration), ("starting", paths.start)):
            less, more = (cost(path, per=count, shape=shape, **parameters) for count, parameters in sizes)
            name = f"{phase} {shape}, per {unit}: {more.per:,} / {less.per:,}"
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
        few, many = (cost(paths.idle, reactors=count, shape=shape) for count in (100, size.many_reactors))
        yield Row(f"{tag} among {size.many_reactors:,} {what} / 100", many, over=few, at_most=1.5)


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

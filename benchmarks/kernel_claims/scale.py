"""What many reactors cost: per tag where nearly all are idle, and before the first tag."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter_ns, process_time_ns
from typing import TypeVar

from benchmarks.interleaving import cost_per_tag, interleaved_costs, ratios
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.reactions import program
from benchmarks.kernel_claims.size import Size
from benchmarks.meter import Cost, Meter
from benchmarks.shapes import FanOut
from benchmarks.structures import AllToAll, Quiet, QuietTimers, Tree
from reactorlib import Program, Reactor, elaborate, run

S = 1_000_000_000
T = TypeVar("T")


def idle(size: Size) -> Iterator[Claim]:
    """One timer fires in a program of very many reactors."""
    few, many = size.few_reactors, size.many_reactors
    for cls, what in ((Quiet, "idle reactors"), (QuietTimers, "reactors with a waiting timer each")):
        few_costs, many_costs = interleaved_costs(
            size.many_repetitions,
            [
                partial(cost_per_tag, 2 * size.tags, program(cls, reactors=few)),
                partial(cost_per_tag, 2 * size.tags, program(cls, reactors=many)),
            ],
        )
        yield Claim(f"a tag among {many:,} {what} / {few}", ratios(many_costs, few_costs), "x", at_most=1.5)


def elaboration(size: Size) -> Iterator[Claim]:
    """A bank of connected reactors, and that elaboration and start are linear in ports and connections."""
    bank = partial(elaborating, FanOut, clients=size.bank)
    (costs,) = interleaved_costs(size.many_repetitions, [lambda: bank()[0]])
    yield Claim(f"elaborating a bank of {size.bank:,}", [cost.cpu_ns / S for cost in costs], "s", at_most=1.5)
    grown = size.growth
    side = round(grown**0.5)
    for what, cls, small, large in (
        ("banks", FanOut, {"clients": size.bank}, {"clients": size.bank * grown}),
        (
            "hierarchies",
            Tree,
            {"depth": size.tree_depth, "children": size.tree_children},
            {"depth": size.tree_depth + 1, "children": size.tree_children},
        ),
        ("all-to-all", AllToAll, {"width": size.all_to_all}, {"width": size.all_to_all * side}),
    ):
        yield from _linear(size, what, cls, small, large)


def _linear(size: Size, what: str, cls: type[Reactor], small: dict[str, int], large: dict[str, int]) -> Iterator[Claim]:
    counts = [links(elaborate(cls, meter=Meter(1, 1), **parameters)) for parameters in (small, large)]
    for phase, measure in (("elaborating", elaborating), ("starting", starting)):
        costs = interleaved_costs(
            size.many_repetitions,
            [partial(_per_link, measure, cls, parameters, count)
             for parameters, count in zip((small, large), counts, strict=True)],
        )  # fmt: skip
        yield Claim(
            f"{phase} {what}, per link: {counts[1]:,} / {counts[0]:,}", ratios(costs[1], costs[0]), "x", at_most=1.5,
            note=f"{min(cost.cpu_ns for cost in costs[1]) / 1_000:.1f} us per link",
        )  # fmt: skip


def _per_link(
    measure: Callable[..., tuple[Cost, Program]], cls: type[Reactor], parameters: dict[str, int], count: int
) -> Cost:
    return measure(cls, **parameters)[0].per(count)


def links(program: Program) -> int:
    """Channels of ports, and of connections."""
    connected = sum(len(connection.targets) for instance in program.instances for connection in instance.connections)
    return program.channels + connected


def elaborating(cls: type[Reactor], **parameters: int) -> tuple[Cost, Program]:
    """The cost of elaborating a program."""
    return _timed(lambda: elaborate(cls, meter=Meter(1, 1), **parameters))


def starting(cls: type[Reactor], **parameters: int) -> tuple[Cost, Program]:
    """The cost of running an elaborated program until its loop is compiled and has run: ten tags."""
    elaborated = elaborate(cls, meter=Meter(10, 1, laps=0), **parameters)
    gc.collect()
    cost, _ = _timed(lambda: run(elaborated, fast=True))
    return cost, elaborated


def _timed(work: Callable[[], T]) -> tuple[Cost, T]:
    cpu, wall = process_time_ns(), perf_counter_ns()
    result = work()
    return Cost(process_time_ns() - cpu, perf_counter_ns() - wall), result

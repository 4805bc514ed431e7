"""What a reaction costs: by shape, against xronos, with many clients, with a trace, and walked instead of compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.interleaving import cost_per_tag, interleaved_costs, ratios, walking
from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.size import Size
from benchmarks.meter import Cost, Meter
from benchmarks.shapes import ActionLoop, FanOut, Loop, PingPong
from benchmarks.structures import Timers
from reactorlib import USEC, Reactor, elaborate, run

US = 1_000
Run = Callable[[Meter], object]


def program(cls: type[Reactor], **parameters: Any) -> Run:
    """Runs a shape in fast mode."""
    return lambda meter: run(cls, fast=True, meter=meter, **parameters)


def fan_out(size: Size) -> Iterator[Claim]:
    """Fan-out to 16 and gather."""

    def on_xronos() -> Run:
        from benchmarks.shapes_on_xronos import run_fan_out

        return partial(run_fan_out, clients=16)

    ours = partial(cost_per_tag, size.tags, program(FanOut, clients=16))
    return _against_xronos(size, "fan-out to 16 and gather", ours, on_xronos, 17, at_least=5, at_most_us=0.25)


def ping_pong(size: Size) -> Iterator[Claim]:
    """Ping-pong."""

    def on_xronos() -> Run:
        from benchmarks.shapes_on_xronos import run_ping_pong

        return run_ping_pong

    ours = partial(cost_per_tag, 4 * size.tags, program(PingPong))
    return _against_xronos(size, "ping-pong", ours, on_xronos, 2, at_least=2)


def _against_xronos(
    size: Size,
    name: str,
    ours: Callable[[], Cost],
    on_xronos: Callable[[], Run],
    reactions: int,
    at_least: float,
    at_most_us: float | None = None,
) -> Iterator[Claim]:
    try:
        theirs = partial(cost_per_tag, size.tags // 5, on_xronos())
    except ImportError as error:
        (own,) = interleaved_costs(size.repetitions, [ours])
        yield _per_reaction(name, own, reactions, at_most_us)
        yield Claim(f"{name}: xronos / reactorlib", [], "x", at_least=at_least, note=str(error))
        return
    own, other = interleaved_costs(size.repetitions, [ours, theirs])
    yield _per_reaction(name, own, reactions, at_most_us)
    yield _per_reaction(f"{name} on xronos", other, reactions)
    note = "processor time, of all threads"
    yield Claim(f"{name}: xronos / reactorlib", ratios(other, own), "x", at_least=at_least, note=note)
    wall = [one.wall_ns / two.wall_ns for one, two in zip(other, own, strict=True)]
    yield Claim(f"{name}: xronos / reactorlib, wall time", wall, "x", at_least=at_least)


def _per_reaction(name: str, costs: Sequence[Cost], reactions: int, at_most_us: float | None = None) -> Claim:
    return Claim(f"{name}: a reaction", [cost.cpu_ns / reactions / US for cost in costs], "us", at_most=at_most_us)


def many_clients(size: Size) -> Iterator[Claim]:
    """The cost of a reaction does not grow with the number of clients."""
    few, many = 16, size.many_clients
    few_costs, many_costs = interleaved_costs(
        size.repetitions,
        [
            partial(cost_per_tag, size.tags, program(FanOut, clients=few)),
            partial(cost_per_tag, max(3, 4 * size.tags * few // many), program(FanOut, clients=many)),
        ],
    )
    few_costs = [cost.per(few + 1) for cost in few_costs]
    many_costs = [cost.per(many + 1) for cost in many_costs]
    yield Claim(f"a reaction with {many:,} clients / with {few}", ratios(many_costs, few_costs), "x", at_most=1.5)


def tags(size: Size) -> Iterator[Claim]:
    """What a tag with one reaction costs: the tag loop and the event queue."""
    count = 4 * size.tags
    names = {
        "a tag of an `after` 0 loop": program(Loop),
        "a tag of a logical action, now": program(ActionLoop),
        "a tag of a logical action, 1 us later": program(ActionLoop, delay=1 * USEC),
    }
    costs = interleaved_costs(size.repetitions, [partial(cost_per_tag, count, run_one) for run_one in names.values()])
    for name, figures in zip(names, costs, strict=True):
        yield Claim(name, [cost.cpu_ns / US for cost in figures], "us")


def tracing(size: Size) -> Iterator[Claim]:
    """Off, a trace costs nothing: nothing of it is in a schedule. On, it costs what recording costs."""

    def traced(meter: Meter) -> object:
        return run(FanOut, fast=True, trace=True, meter=meter, clients=16)

    source = elaborate(FanOut, meter=Meter(1, 0), clients=16).source("hub.request")
    mentions = sum(name in source for name in ("record(", "clock(", "note("))
    yield Claim("trace off: mentions of it in a schedule", [mentions], "", at_most=0, note="so it can cost nothing")
    plain = partial(cost_per_tag, size.tags, program(FanOut, clients=16))
    count = max(size.tags // 4, 20)
    off, on, again = interleaved_costs(2 * size.repetitions, [plain, partial(cost_per_tag, count, traced), plain])
    note = "A/A: nothing is left behind"
    yield Claim("trace off: after a run with a trace / before", ratios(again, off), "x", at_most=1.05, note=note)
    added = [(b.cpu_ns - a.cpu_ns) / 17 / US for a, b in zip(off, on, strict=True)]
    yield Claim("trace on: added to a reaction", added, "us", at_most=1)


def timers(size: Size) -> Iterator[Claim]:
    """Independent timers, a tag each: compiled as far as that pays, and walked."""
    rounds = max(2, 2 * size.tags // size.timers)

    def measure(count: int, rounds: int, walked: bool) -> Cost:
        run_one = program(Timers, timers=count)
        if not walked:  # after as many rounds as it may take to show that compiling pays
            return cost_per_tag(rounds, run_one, warmup=80).per(count)
        with walking():
            return cost_per_tag(rounds, run_one, warmup=4).per(count)

    many, few = size.timers, max(2, size.timers // 100)
    compiled, walked, walked_few = interleaved_costs(
        size.many_repetitions,
        [
            partial(measure, many, rounds, False),
            partial(measure, many, rounds, True),
            partial(measure, few, rounds * many // few, True),
        ],
    )
    yield Claim(f"{many:,} timers: a reaction with its tag", [cost.cpu_ns / US for cost in compiled], "us")
    yield Claim(f"{many:,} timers: the same, walked", [cost.cpu_ns / US for cost in walked], "us")
    yield Claim(f"walked: {many:,} timers / {few}", ratios(walked, walked_few), "x", at_most=1.5)

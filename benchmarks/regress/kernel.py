"""The kernel's hot paths, each as something that repeats itself for a meter. Imports the runtime that is measured."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.meter import Meter
from benchmarks.shapes import ActionLoop, Chain, FanOut, MeteredTicker, PingPong, Ticker
from reactorlib import MSEC, USEC, Bank, Reactor, elaborate, run

_CLIENTS = 15
_TICKERS = 64


class Timers(Reactor):
    """Many timers, each due at a tag of its own: what the event queue costs."""

    def __init__(self, meter: Meter) -> None:
        self.tickers = Bank(Ticker, _TICKERS, 1 * MSEC, 15 * USEC, 15 * USEC)
        self.metered = MeteredTicker(meter, 0 * MSEC, 1 * MSEC)


def fan_out(meter: Meter) -> None:
    """A tag: a hub asks, its clients answer."""
    run(FanOut, fast=True, meter=meter, clients=_CLIENTS)


def ping_pong(meter: Meter) -> None:
    """A tag: one exchange."""
    run(PingPong, fast=True, meter=meter)


def chain(meter: Meter) -> None:
    """A tag: a value's way along clients in a row."""
    run(Chain, fast=True, meter=meter, length=_CLIENTS)


def actions(meter: Meter) -> None:
    """A tag: an event of a logical action, some time ahead."""
    run(ActionLoop, fast=True, meter=meter, delay=1 * MSEC)


def timers(meter: Meter) -> None:
    """A period of many timers, each with tags of its own."""
    run(Timers, fast=True, meter=meter)


def start(meter: Meter) -> None:
    """From the class to the end of its first tag: elaboration, analysis, compilation."""
    _repeat(meter, lambda: run(FanOut, fast=True, meter=Meter(1, 0, laps=0), clients=_CLIENTS))


def elaboration(meter: Meter) -> None:
    """From the class to a program."""
    _repeat(meter, lambda: elaborate(FanOut, meter=meter, clients=_CLIENTS))


def _repeat(meter: Meter, work: Callable[[], object]) -> None:
    left = meter.warmup
    while left:
        for _ in range(left):
            work()
        left = meter.next_lap()


KERNEL: dict[str, Callable[[Meter], None]] = {
    "fan_out": fan_out,
    "ping_pong": ping_pong,
    "chain": chain,
    "actions": actions,
    "timers": timers,
    "elaboration": elaboration,
    "start": start,
}

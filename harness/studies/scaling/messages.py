"""The cost of a message between two workers on this machine, from the spans of a program on two worker processes.

At each tag the first worker gives away some values one by one, each in a message of its own, and the second takes
them. The same program in one thread says what passes between two reactions anyway. Medians over tags, at the smallest
values:

- The sender's part: the time from one giving reaction to the next, beyond that in one thread.
- The receiver's part: likewise from one taking reaction to the next. The shortest time counts, as the message has
  arrived already there.
- Between them: the time from the first giving reaction to the first taking one, which waits for it, without the two
  parts.

The cost of a byte is the least-squares slope of the two parts together over the sizes of the values.
"""

import math
import pickle
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import linear_regression, median
from typing import Any, NamedTuple

import numpy as np

from harness.prediction import MessageCost
from reactorlib import USEC, Bank, ExecutorName, Input, Output, Reactor, Span, Timer, connect, reaction, run
from reactorlib.transport.codec import dumps

_SIZES = (64, 4_096, 65_536, 262_144)
_GIVERS = 6  # messages of a tag: fewer than a channel has room for
_TAGS, _WARM_UP = 120, 20
# Before the first message its receiver has begun to wait, and before the second is taken all have been sent.
_LEAD_NS, _HOLD_NS = 100_000, 400_000


def encoded_bytes(value: Any) -> int:
    """The bytes of a value as it travels: of its pickle, and of the buffers beside it."""
    beside: list[int] = []

    def out_of_band(buffer: pickle.PickleBuffer) -> bool:
        beside.append(buffer.raw().nbytes)
        return False

    return len(dumps(value, out_of_band)) + sum(beside)


class Giver(Reactor):
    """Gives an array away at each tag."""

    tick = Timer(0, 1 * USEC)
    out = Output[Any]()

    def __init__(self, nbytes: int) -> None:
        self.value = np.zeros(nbytes, np.uint8)

    @reaction(tick, effects=out)
    def give(self, _tick: Timer, out: Output[Any]) -> None:
        """The first lets a while pass before."""
        if self.bank_index == 0:
            _wait(_LEAD_NS)
        out.set(self.value)


class Taker(Reactor):
    """Takes what a giver gave."""

    inp = Input[Any]()

    @reaction(inp)
    def take(self, _inp: Input[Any]) -> None:
        """The first lets a while pass."""
        if self.bank_index == 0:
            _wait(_HOLD_NS)


class Giving(Reactor):
    """Givers on one worker, takers on another."""

    def __init__(self, nbytes: int) -> None:
        self.givers, self.takers = Bank(Giver, _GIVERS, nbytes), Bank(Taker, _GIVERS)
        connect(self.givers.out, self.takers.inp)


def _wait(for_ns: int) -> None:
    until = time.perf_counter_ns() + for_ns
    while time.perf_counter_ns() < until:
        pass


class Times(NamedTuple):
    """Medians in ns of a run."""

    sending: float
    receiving: float
    arriving: float


def measured() -> dict[str, float]:
    """The fields of a MessageCost on this machine, in about a second. Raises RuntimeError where one is not positive."""
    times = [_between(nbytes, "processes") for nbytes in _SIZES]
    alone = _between(_SIZES[0], "inline")
    sizes = [encoded_bytes(np.zeros(nbytes, np.uint8)) for nbytes in _SIZES]
    return fitted(sizes, times, alone)._asdict()


def fitted(sizes: Sequence[int], times: Sequence[Times], alone: Times) -> MessageCost:
    """The costs that these times show. With `alone`: in one thread. Raises RuntimeError where one is not positive."""
    first = times[0]
    send_ns, receive_ns = first.sending - alone.sending, first.receiving - alone.receiving
    latency_ns = first.arriving - alone.sending - send_ns - receive_ns
    byte_ns = linear_regression(sizes, [one.sending + one.receiving for one in times]).slope
    cost = MessageCost(send_ns, receive_ns, latency_ns, byte_ns)
    for name, value in cost._asdict().items():
        if not 0 < value < math.inf:
            raise RuntimeError(f"the cost of a message cannot be told on this machine: {name} came out as {value:.3g}")
    return cost


def _between(nbytes: int, executor: ExecutorName) -> Times:
    takers = {f"Giving.takers[{index}]": 1 for index in range(_GIVERS)}
    givers = {f"Giving.givers[{index}]": 0 for index in range(_GIVERS)}
    options: dict[str, Any] = {"workers": 2, "placement": givers | takers} if executor == "processes" else {}
    spans = run(Giving, nbytes=nbytes, executor=executor, fast=True, timeout=_TAGS * USEC, trace=True, **options).spans
    assert spans is not None
    tags = [spans[start : start + 2 * _GIVERS] for start in range(0, len(spans), 2 * _GIVERS)][_WARM_UP:]
    return Times(
        median(gap for tag in tags for gap in _gaps(tag[:_GIVERS])),
        median(min(_gaps(tag[_GIVERS:])) for tag in tags),
        median(tag[_GIVERS].began_ns - tag[0].ended_ns for tag in tags),
    )


def _gaps(spans: Sequence[Span]) -> Iterator[int]:
    return (other.began_ns - one.ended_ns for one, other in pairwise(spans))

"""The exchange of a message as reactors: a hub on rank 0, an echo on rank 1, a tag for each round."""

import time
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from reactorlib import Input, Output, Reactor, connect, reaction, request_stop, run, startup

Message = npt.NDArray[np.uint8]


class Echo(Reactor):
    """Returns what it gets."""

    taken = Input[Message]()
    given = Output[Message]()

    @reaction(taken, effects=given)
    def answer(self, taken: Input[Message], given: Output[Message]) -> None:
        """Return it."""
        given.set(taken.value)


class Hub(Reactor):
    """Sends a message again and again."""

    back = Input[Message]()
    out = Output[Message]()

    def __init__(self, size: int, rounds: int, stamps: list[int]) -> None:
        self.message = np.ones(size, "u1")
        self.left = rounds
        self.stamps = stamps

    @reaction(startup, effects=out)
    def begin(self, out: Output[Message]) -> None:
        """Serve."""
        out.set(self.message)

    @reaction(back, effects=out)
    def take(self, back: Input[Message], out: Output[Message]) -> None:
        """Once more, until the last round is over."""
        self.stamps.append(time.perf_counter_ns())
        assert len(back.value) == len(self.message)
        self.left -= 1
        if self.left:
            out.set(self.message)
        else:
            request_stop()


class Exchange(Reactor):
    """A hub and an echo."""

    def __init__(self, size: int, rounds: int, stamps: list[int]) -> None:
        self.hub = Hub(size, rounds, stamps)
        self.echo = Echo()
        connect(self.hub.out, self.echo.taken, after=0)
        connect(self.echo.given, self.hub.back)


def rounds(size: int, count: int, warmup: int, executor: str = "mpi") -> list[float]:
    """Microseconds of each round that counts; none on the other rank."""
    stamps: list[int] = []
    run(Exchange, executor=executor, workers=2, placement={"Exchange.echo": 1}, size=size, rounds=warmup + count + 1,
        stamps=stamps)  # fmt: skip
    counted = stamps[warmup:]
    return [(after - before) / 1e3 for before, after in pairwise(counted)]

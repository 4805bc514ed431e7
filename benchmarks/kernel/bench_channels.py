"""Values from process to process: what a round trip takes, by size of what is sent. Wall time, start-up left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.meter import Meter
from benchmarks.rounds import measure
from reactorlib import Input, Output, Reactor, connect, elaborate, reaction, request_stop, run, startup

# Bytes of the array that is sent, and how many round trips a measured lap has. The answer is an integer.
SIZES = {"8B": (8, 500), "1KiB": (2**10, 500), "64KiB": (2**16, 300), "1MiB": (2**20, 60), "10MiB": (10 * 2**20, 10)}


class Sender(Reactor):
    """Sends the same array again and again, each time after an answer."""

    answer = Input[int]()
    block = Output[Any]()

    def __init__(self, meter: Meter, size_bytes: int) -> None:
        self.meter = meter
        self.left = meter.warmup
        self.array = np.zeros(size_bytes, np.uint8)

    @reaction(startup, effects=block)
    def begin(self, block: Output[Any]) -> None:
        block.set(self.array)

    @reaction(answer, effects=block)
    def again(self, answer: Input[int], block: Output[Any]) -> None:
        self.left -= 1
        if not self.left:
            self.left = self.meter.next_lap()
            if not self.left:
                request_stop()
                return
        block.set(self.array)


class Receiver(Reactor):
    """Answers with the first byte."""

    block = Input[Any]()
    answer = Output[int]()

    @reaction(block, effects=answer)
    def reply(self, block: Input[Any], answer: Output[int]) -> None:
        answer.set(int(block.value[0]))


class Channel(Reactor):
    """A tag is one round trip."""

    def __init__(self, meter: Meter, size_bytes: int) -> None:
        self.sender = Sender(meter, size_bytes)
        self.receiver = Receiver()
        connect(self.sender.block, self.receiver.block)
        connect(self.receiver.answer, self.sender.answer, after=0)


class Inside:
    """A timer, in s, that goes on by nothing but the measured laps."""

    elapsed_s = 0.0

    def __call__(self) -> float:
        return self.elapsed_s


_INSIDE = Inside()


@pytest.mark.benchmark(timer=_INSIDE, group="channels")
@pytest.mark.parametrize("size", SIZES)
def bench_round_trips(benchmark: BenchmarkFixture, size: str) -> None:
    size_bytes, tags = SIZES[size]

    def round_trips() -> None:
        meter = Meter(warmup=max(5, tags // 10), tags=tags)
        program = elaborate(Channel, meter=meter, size_bytes=size_bytes)
        run(program, fast=True, executor="processes", workers=2, placement={"Channel.receiver": 1})
        _INSIDE.elapsed_s += meter.per_tag.wall_ns * tags / 1e9

    benchmark.extra_info.update(round_trips=tags, bytes_per_round_trip=size_bytes)
    measure(benchmark, round_trips)

"""Two clocks of different period and a display that reads both: at some tags one of them is absent."""

from reactorlib import (
    MSEC,
    Bank,
    Input,
    Maybe,
    Output,
    Reactor,
    Timer,
    connect,
    logical_elapsed,
    per_member,
    reaction,
    run,
)


class Clock(Reactor):
    """Counts its ticks."""

    tick = Timer(period="period")
    count = Output[int]()

    def __init__(self, period: int):
        self.ticks = 0

    @reaction(tick, effects=count)
    def advance(self, tick: Timer, count: Output[int]) -> None:
        self.ticks += 1
        count.set(self.ticks)


class Display(Reactor):
    """Shows every channel: its value where it is present, a dash where it is not."""

    counts = Input[int](width=2)

    @reaction(counts)
    def show(self, counts: Input[int]) -> None:
        shown = " ".join(str(channel.value) if channel.is_present else "-" for channel in counts)
        print(f"{logical_elapsed() // MSEC} ms: {shown}")


class Sum(Reactor):
    """Has two triggers, and needs both."""

    one, other = Input[int](), Input[int]()

    @reaction(one, other)
    def add(self, one: Maybe[int], other: Maybe[int]) -> None:
        if one.is_present and other.is_present:
            print(f"sum {one.value + other.value}")


class Main(Reactor):
    """A bank of two clocks, its ports connected to a multiport and to two ports."""

    def __init__(self) -> None:
        self.clocks = Bank(Clock, 2, period=per_member(lambda index: (index + 1) * MSEC))
        self.display, self.sum = Display(), Sum()
        connect(self.clocks.count, self.display.counts)
        connect(self.clocks.count, [self.sum.one, self.sum.other])


if __name__ == "__main__":
    run(Main, timeout=2 * MSEC, fast=True)

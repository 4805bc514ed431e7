"""Rows "connection" and "physical connection"."""

import pytest

from reactorlib import (
    MSEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    Reactor,
    Timer,
    connect,
    physical_elapsed,
    reaction,
    request_stop,
    run,
    startup,
)
from tests.reactorlib.observing import Execute, reactions, steps, values, written

TOKEN = object()


class Source(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(7)


class Sink(Reactor):
    inp = Input[int]()
    seen = Output[int]()

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(inp.value)


class Direct(Reactor):
    def __init__(self, after: int | None = None):
        self.source, self.sink = Source(), Sink()
        connect(self.source.out, self.sink.inp, after=after)


def test_plain_connection_arrives_at_the_same_tag(execute: Execute) -> None:
    assert steps(execute(Direct)) == [
        (0, 0, "Direct.source.begin", ("Direct.source.out", 7)),
        (0, 0, "Direct.sink.hear", ("Direct.sink.seen", 7)),
    ]


def test_connection_after_a_delay_arrives_at_microstep_zero(execute: Execute) -> None:
    assert written(execute(Direct, after=5 * MSEC), "Direct.sink.seen") == [(5 * MSEC, 0, 7)]


def test_connection_after_zero_arrives_one_microstep_later(execute: Execute) -> None:
    assert written(execute(Direct, after=0), "Direct.sink.seen") == [(0, 1, 7)]


class TokenSource(Reactor):
    out = Output[object]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(TOKEN)


class TokenSink(Reactor):
    inp = Input[object]()
    seen = Output[bool]()

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(inp.value is TOKEN)


class Tokens(Reactor):
    def __init__(self, after: int | None = None):
        self.source, self.sinks = TokenSource(), Bank(TokenSink, 2)
        connect(self.source.out, self.sinks.inp, after=after)


@pytest.mark.parametrize("after", [None, 0, 1 * MSEC])
def test_connection_copies_nothing_in_one_address_space(path: str, after: int | None) -> None:
    result = run(Tokens, after=after, fast=True, trace=True)
    assert values(result, "Tokens.sinks[0].seen") == values(result, "Tokens.sinks[1].seen") == [True]


class Late(Reactor):
    """Writes at (1 ms, 0) and at (1 ms, 1)."""

    tick = Timer(offset=1 * MSEC)
    again = LogicalAction()
    out = Output[int]()

    @reaction(tick, effects=[again, out])
    def beat(self, tick, again, out):
        out.set(1)
        again.schedule()

    @reaction(again, effects=out)
    def repeat(self, again, out):
        out.set(2)


class LatePair(Reactor):
    def __init__(self, after: int | None = None):
        self.source, self.sink = Late(), Sink()
        connect(self.source.out, self.sink.inp, after=after)


def test_after_zero_delays_each_microstep_by_one(execute: Execute) -> None:
    assert written(execute(LatePair, after=0), "LatePair.sink.seen") == [(1 * MSEC, 1, 1), (1 * MSEC, 2, 2)]


def test_two_values_delayed_to_one_time_arrive_one_microstep_apart(execute: Execute) -> None:
    assert written(execute(LatePair, after=3 * MSEC), "LatePair.sink.seen") == [(4 * MSEC, 0, 1), (4 * MSEC, 1, 2)]


class Counting(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[int]()

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out.set(self.count)
        out.set(self.count + 100)
        self.count += 1


class InFlight(Reactor):
    def __init__(self):
        self.source, self.sink = Counting(), Sink()
        connect(self.source.out, self.sink.inp, after=3 * MSEC)


def test_several_values_are_in_flight_and_the_last_set_of_a_tag_travels(execute: Execute) -> None:
    assert written(execute(InFlight, timeout=5 * MSEC), "InFlight.sink.seen") == [
        (3 * MSEC, 0, 100),
        (4 * MSEC, 0, 101),
        (5 * MSEC, 0, 102),
    ]


class Three(Reactor):
    out = Output[int](width=3)

    @reaction(startup, effects=out)
    def begin(self, out):
        for channel, port in enumerate(out):
            port.set(channel)


class Wide(Reactor):
    inp = Input[int](width="n")
    seen = Output[tuple]()

    def __init__(self, n: int):
        pass

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(tuple(port.value for port in inp))


class Broadcast(Reactor):
    def __init__(self, repeats: int = 1):
        self.source = Three()
        self.sink = Wide(3 * repeats)
        connect(self.source.out, self.sink.inp)


def test_broadcast_repeats_the_left_side_until_the_right_is_full(execute: Execute) -> None:
    assert values(execute(Broadcast), "Broadcast.sink.seen") == [(0, 1, 2)]
    assert values(execute(Broadcast, repeats=3), "Broadcast.sink.seen") == [(0, 1, 2) * 3]


class BroadcastToBank(Reactor):
    def __init__(self, n: int):
        self.source, self.sinks = Source(), Bank(Sink, n)
        connect(self.source.out, self.sinks.inp)


def test_broadcast_to_a_bank(execute: Execute) -> None:
    result = execute(BroadcastToBank, n=3)
    assert reactions(result) == [
        (0, 0, "BroadcastToBank.source.begin"),
        *((0, 0, f"BroadcastToBank.sinks[{index}].hear") for index in range(3)),
    ]


class Parallel(Reactor):
    def __init__(self):
        self.one, self.three = Source(), Three()
        self.wide, self.sinks = Wide(2), Bank(Sink, 2)
        connect([self.one.out, self.three.out], [self.wide.inp, self.sinks.inp])


def test_lists_on_both_sides_connect_in_parallel(execute: Execute) -> None:
    result = execute(Parallel)
    assert values(result, "Parallel.wide.seen") == [(7, 0)]
    assert values(result, "Parallel.sinks[0].seen") == [1]
    assert values(result, "Parallel.sinks[1].seen") == [2]


class Channels(Reactor):
    def __init__(self):
        self.source, self.first, self.last = Three(), Sink(), Sink()
        connect(self.source.out[0], self.first.inp)
        connect(self.source.out[2], self.last.inp)


def test_single_channels_are_connected_by_index(execute: Execute) -> None:
    result = execute(Channels)
    assert values(result, "Channels.first.seen") == [0]
    assert values(result, "Channels.last.seen") == [2]


class Loop(Reactor):
    """Every round one microstep, then one millisecond."""

    def __init__(self):
        self.there, self.back = Relay(3), Relay(3)
        connect(self.there.out, self.back.inp, after=1 * MSEC)
        connect(self.back.out, self.there.inp, after=0)


class Relay(Reactor):
    inp = Input[int]()
    out = Output[int]()

    def __init__(self, most: int):
        self.most = most

    @reaction(startup, inp, effects=out)
    def forward(self, inp, out):
        count = inp.value + 1 if inp.is_present else 0
        if count < self.most:
            out.set(count)


def test_delayed_connections_close_a_cycle(execute: Execute) -> None:
    result = execute(Loop)
    assert written(result, "Loop.there.out") == [(0, 0, 0), (0, 1, 1), (1 * MSEC, 1, 2)]
    assert written(result, "Loop.back.out") == [(0, 0, 0), (1 * MSEC, 0, 1), (1 * MSEC, 1, 2)]


class PhysicalSink(Reactor):
    inp = Input[int]()
    seen = Output[tuple]()

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(inp.value)
        request_stop()


class Physical(Reactor):
    def __init__(self, after: int | None):
        self.source, self.sink = Busy(), PhysicalSink()
        connect(self.source.out, self.sink.inp, physical=True, after=after)


class Busy(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out):
        while physical_elapsed() < 2 * MSEC:
            pass
        out.set(7)


@pytest.mark.parametrize("after", [None, 3 * MSEC])
def test_physical_connection_arrives_at_physical_time_plus_delay(execute: Execute, after: int | None) -> None:
    result = execute(Physical, after=after, fast=False, timeout=5_000 * MSEC)
    [(time_ns, _, value)] = written(result, "Physical.sink.seen")
    assert value == 7
    assert 2 * MSEC + (after or 0) <= time_ns < 5_000 * MSEC


class PhysicalLoop(Reactor):
    def __init__(self):
        self.relay = Relay(3)
        connect(self.relay.out, self.relay.inp, physical=True)


def test_physical_connection_breaks_a_cycle(execute: Execute) -> None:
    result = execute(PhysicalLoop, fast=False, timeout=5_000 * MSEC)
    sent = written(result, "PhysicalLoop.relay.out")
    assert [step[-1] for step in sent] == [0, 1, 2]
    tags = [step[:2] for step in sent]
    assert tags == sorted(set(tags))


class Joined(Reactor):
    """Two, three and four sources in one endpoint, as a tuple and as a list."""

    def __init__(self, count: int, kind: type):
        self.sources = [Three() for _ in range(count)]
        self.sink = Wide(3 * count)
        connect(kind(source.out for source in self.sources), self.sink.inp)


@pytest.mark.parametrize("kind", [tuple, list])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_ports_are_joined_by_a_tuple_of_any_length(execute: Execute, count: int, kind: type) -> None:
    assert values(execute(Joined, count=count, kind=kind), "Joined.sink.seen") == [(0, 1, 2) * count]


class Pair(Reactor):
    out = Output[int](width=2)
    inp = Input[int](width=2)

    def __init__(self):
        connect((self.inp[1], self.inp[0]), self.out)


class Picked(Reactor):
    def __init__(self):
        self.source, self.pair, self.sink = Three(), Pair(), Wide(2)
        connect(self.source.out[:2], self.pair.inp)
        connect(self.pair.out, self.sink.inp)


def test_a_pair_of_channels_is_two_channels(execute: Execute) -> None:
    assert values(execute(Picked), "Picked.sink.seen") == [(1, 0)]

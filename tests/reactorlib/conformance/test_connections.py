"""Rows "connection" and "physical connection"."""

from functools import partial

import pytest

from reactorlib import MSEC, Bank, Input, LogicalAction, Output, Reactor, connect, reaction, request_stop, run, startup
from tests.reactorlib.conformance.reactors import Pair, Sink, Source, WideSink, WideSource, Working
from tests.reactorlib.observing import Execute, steps, values, written

TOKEN = object()
SEVEN = partial(Source, 7)


def test_plain_connection_arrives_at_the_same_tag_with_no_reaction_in_between(execute: Execute) -> None:
    assert steps(execute(Pair, source=SEVEN)) == [
        (0, 0, "Pair.source.send", ("Pair.source.out", 7)),
        (0, 0, "Pair.reader.hear", ("Pair.reader.seen", 7)),
    ]


@pytest.mark.parametrize(("after", "tag"), [(5 * MSEC, (5 * MSEC, 0)), (0, (0, 1))])
def test_delayed_connection_arrives_at_microstep_zero_or_one_microstep_later(execute: Execute, after, tag) -> None:
    assert written(execute(Pair, source=SEVEN, after=after), "Pair.reader.seen") == [(*tag, 7)]


@pytest.mark.parametrize("after", [None, 0, 1 * MSEC])
def test_connection_copies_nothing_in_one_address_space(path: str, after: int | None) -> None:
    reader = partial(Sink, lambda value: value is TOKEN)
    result = run(Pair, source=partial(Source, TOKEN), reader=reader, after=after, fast=True, trace=True)
    assert values(result, "Pair.reader.seen") == [True]


@pytest.mark.parametrize(("after", "time"), [(0, 0), (3 * MSEC, 3 * MSEC)])
def test_two_values_delayed_to_one_time_arrive_one_microstep_apart(execute: Execute, after: int, time: int) -> None:
    first = 0 if after else 1
    arrived = [(time, first, 1), (time, first + 1, 2)]
    assert written(execute(Pair, source=partial(Source, 1, 2, period=0), after=after), "Pair.reader.seen") == arrived


def test_several_values_are_in_flight_and_the_last_set_of_a_tag_travels(execute: Execute) -> None:
    class Corrected(Reactor):
        out = Output[int]()
        again = LogicalAction[int](min_delay=1 * MSEC)

        @reaction(startup, again, effects=[out, again])
        def send(self, again, out):
            count = again.value or 0
            out.set(-1)
            out.set(count)
            again.schedule(value=count + 1)

    result = execute(Pair, source=Corrected, after=3 * MSEC, timeout=5 * MSEC)
    assert written(result, "Pair.reader.seen") == [(at * MSEC, 0, at - 3) for at in (3, 4, 5)]


@pytest.mark.parametrize("repeats", [1, 3])
def test_broadcast_repeats_the_left_side_until_the_right_is_full(execute: Execute, repeats: int) -> None:
    result = execute(Pair, source=partial(WideSource, 0, 1, 2), reader=partial(WideSink, 3 * repeats))
    assert values(result, "Pair.reader.seen") == [(0, 1, 2) * repeats]


def test_lists_on_both_sides_connect_in_parallel(execute: Execute) -> None:
    class Parallel(Reactor):
        def __init__(self):
            self.one, self.three = Source(7), WideSource(0, 1, 2)
            self.wide, self.sinks = WideSink(2), Bank(Sink, 2)
            connect([self.one.out, self.three.out], [self.wide.inp, self.sinks.inp])

    result = execute(Parallel)
    assert values(result, "Parallel.wide.seen") == [(7, 0)]
    assert [values(result, f"Parallel.sinks[{index}].seen") for index in range(2)] == [[1], [2]]


def test_channels_are_connected_by_index_by_slice_and_in_pairs(execute: Execute) -> None:
    class Swap(Reactor):
        out, inp = Output[int](width=2), Input[int](width=2)

        def __init__(self):
            connect((self.inp[1], self.inp[0]), self.out)

    class Picked(Reactor):
        def __init__(self):
            self.source, self.swap, self.sink, self.last = WideSource(0, 1, 2), Swap(), WideSink(2), Sink()
            connect(self.source.out[:2], self.swap.inp)
            connect(self.swap.out, self.sink.inp)
            connect(self.source.out[2], self.last.inp)

    result = execute(Picked)
    assert values(result, "Picked.sink.seen") == [(1, 0)]
    assert values(result, "Picked.last.seen") == [2]


@pytest.mark.parametrize("kind", [tuple, list])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_ports_are_joined_by_a_tuple_of_any_length(execute: Execute, count: int, kind: type) -> None:
    class Joined(Reactor):
        def __init__(self, count: int, kind: type):
            self.sources = [WideSource(0, 1, 2) for _ in range(count)]
            self.sink = WideSink(3 * count)
            connect(kind(source.out for source in self.sources), self.sink.inp)

    assert values(execute(Joined, count=count, kind=kind), "Joined.sink.seen") == [(0, 1, 2) * count]


class Counter(Reactor):
    """Passes on each number plus one, up to 2."""

    inp, out = Input[int](), Output[int]()

    @reaction(startup, inp, effects=out)
    def forward(self, inp, out):
        count = inp.value + 1 if inp.is_present else 0
        if count < 3:
            out.set(count)


def test_delayed_connections_close_a_cycle(execute: Execute) -> None:
    class Loop(Reactor):
        """Every round one microstep, then one millisecond."""

        def __init__(self):
            self.there, self.back = Counter(), Counter()
            connect(self.there.out, self.back.inp, after=1 * MSEC)
            connect(self.back.out, self.there.inp, after=0)

    result = execute(Loop)
    assert written(result, "Loop.there.out") == [(0, 0, 0), (0, 1, 1), (1 * MSEC, 1, 2)]
    assert written(result, "Loop.back.out") == [(0, 0, 0), (1 * MSEC, 0, 1), (1 * MSEC, 1, 2)]


def test_physical_connection_breaks_a_cycle(execute: Execute) -> None:
    class PhysicalLoop(Reactor):
        def __init__(self):
            self.counter = Counter()
            connect(self.counter.out, self.counter.inp, physical=True)

    sent = written(execute(PhysicalLoop, fast=False, timeout=5_000 * MSEC), "PhysicalLoop.counter.out")
    assert [step[-1] for step in sent] == [0, 1, 2]
    tags = [step[:2] for step in sent]
    assert tags == sorted(set(tags))


@pytest.mark.parametrize("after", [None, 3 * MSEC])
def test_physical_connection_arrives_at_physical_time_plus_delay(execute: Execute, after: int | None) -> None:
    class StoppingSink(Sink):
        @reaction("inp")
        def stop(self, inp):
            request_stop()

    options = {"physical": True, "after": after, "fast": False, "timeout": 5_000 * MSEC}
    [(time_ns, _, value)] = written(execute(Pair, source=Working, reader=StoppingSink, **options), "Pair.reader.seen")
    assert value == 1
    assert 5 * MSEC + (after or 0) <= time_ns < 5_000 * MSEC

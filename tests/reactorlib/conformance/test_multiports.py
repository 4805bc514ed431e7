"""Row "multiport"."""

from reactorlib import MSEC, Input, Output, Reactor, Timer, connect, reaction, startup
from tests.reactorlib.observing import Execute, steps, values


class Wide(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[int](width=3)

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out[self.count].set(self.count * 10)
        self.count += 1


class Reader(Reactor):
    inp = Input[int](width=3)
    seen = Output[tuple]()

    @reaction(inp, effects=seen)
    def look(self, inp, seen):
        channels = [(port.is_present, port.value) for port in inp]
        seen.set((len(inp), inp.is_present, channels, inp[2].value))


class Pair(Reactor):
    def __init__(self):
        self.wide, self.reader = Wide(), Reader()
        connect(self.wide.out, self.reader.inp)


def test_multiport_is_indexed_iterated_and_measured(execute: Execute) -> None:
    absent = (False, None)
    assert values(execute(Pair, timeout=2 * MSEC), "Pair.reader.seen") == [
        (3, True, [(True, 0), absent, absent], None),
        (3, True, [(False, 0), (True, 10), absent], None),
        (3, True, [(False, 0), (False, 10), (True, 20)], 20),
    ]


def test_writes_name_the_channel(execute: Execute) -> None:
    result = execute(Pair, timeout=1 * MSEC)
    assert [step for step in steps(result) if step[2] == "Pair.wide.beat"] == [
        (0, 0, "Pair.wide.beat", ("Pair.wide.out[0]", 0)),
        (1 * MSEC, 0, "Pair.wide.beat", ("Pair.wide.out[1]", 10)),
    ]


class Sometimes(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[int](width=2)

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        if self.count == 2:
            out[1].set(1)


class Polling(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    inp = Input[int](width=2)
    seen = Output[bool]()

    @reaction(tick, uses=inp, effects=seen)
    def look(self, tick, inp, seen):
        seen.set(inp.is_present)


class Polled(Reactor):
    def __init__(self):
        self.source, self.reader = Sometimes(), Polling()
        connect(self.source.out, self.reader.inp)


def test_multiport_is_present_if_any_channel_is(execute: Execute) -> None:
    assert values(execute(Polled, timeout=2 * MSEC), "Polled.reader.seen") == [False, True, False]


class Sized(Reactor):
    by_name = Output[int](width="n")
    by_expression = Output[int](width=lambda n, m: n * m)
    one = Output[int](width=1)
    sizes = Output[tuple]()

    def __init__(self, n: int = 2, m: int = 3):
        pass

    @reaction(startup, effects=[by_name, by_expression, one, sizes])
    def begin(self, by_name, by_expression, one, sizes):
        sizes.set((len(by_name), len(by_expression), len(one)))
        by_expression[5].set(1)
        one[0].set(2)


def test_width_comes_from_parameters_and_expressions(execute: Execute) -> None:
    assert steps(execute(Sized)) == [
        (
            0,
            0,
            "Sized.begin",
            ("Sized.sizes", (2, 6, 1)),
            ("Sized.by_expression[5]", 1),
            ("Sized.one[0]", 2),
        )
    ]
    assert values(execute(Sized, n=6, m=1), "Sized.sizes") == [(6, 6, 1)]


class AnyChannel(Reactor):
    inp = Input[int](width=3)
    count = Output[int]()

    def __init__(self):
        self.invocations = 0

    @reaction(inp, effects=count)
    def look(self, inp, count):
        self.invocations += 1
        count.set((self.invocations, sum(port.is_present for port in inp)))


class AllAtOnce(Reactor):
    out = Output[int](width=3)

    @reaction(startup, effects=out)
    def begin(self, out):
        for channel, port in enumerate(out):
            port.set(channel)


class Crowd(Reactor):
    def __init__(self):
        self.source, self.reader = AllAtOnce(), AnyChannel()
        connect(self.source.out, self.reader.inp)


def test_multiport_triggers_once_for_all_its_channels(execute: Execute) -> None:
    assert values(execute(Crowd), "Crowd.reader.count") == [(1, 3)]


class Mutable(Reactor):
    inp = Input[list](width=2, mutable=True)
    seen = Output[list]()

    @reaction(inp, effects=seen)
    def change(self, inp, seen):
        for port in inp:
            port.value.append("x")
        seen.set([list(port.value) for port in inp])


class ListSource(Reactor):
    out = Output[list]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set([1])


class MutableBroadcast(Reactor):
    def __init__(self):
        self.source, self.reader = ListSource(), Mutable()
        connect(self.source.out, self.reader.inp)


def test_mutable_multiport_copies_each_channel(execute: Execute) -> None:
    result = execute(MutableBroadcast)
    assert values(result, "MutableBroadcast.reader.seen") == [[[1, "x"], [1, "x"]]]
    assert values(result, "MutableBroadcast.source.out") == [[1]]

"""Rows "input, output", "mutable input" and "multiport"."""

from functools import partial

from reactorlib import ABSENT, MSEC, Bank, Input, Output, Reactor, State, Timer, connect, reaction, startup
from tests.reactorlib.conformance.reactors import Pair, Reader, Sink, Source, WideSource
from tests.reactorlib.observing import Execute, steps, values, written


def test_presence_is_per_tag_and_the_value_is_kept(execute: Execute) -> None:
    result = execute(Pair, source=partial(Source, 1, ABSENT, 3, ABSENT), reader=partial(Reader, 4))
    assert values(result, "Pair.reader.seen") == [(True, 1), (False, 1), (True, 3), (False, 3)]


def test_presence_ends_with_the_microstep(execute: Execute) -> None:
    result = execute(Pair, source=partial(Source, 1, ABSENT, period=0), reader=partial(Reader, 2, period=0))
    assert written(result, "Pair.reader.seen") == [(0, 0, (True, 1)), (0, 1, (False, 1))]


def test_value_is_none_before_the_first(execute: Execute) -> None:
    assert values(execute(Reader, looks=2), "Reader.seen") == [(False, None)] * 2


def test_none_is_a_value_like_any_other(execute: Execute) -> None:
    assert steps(execute(Pair, source=partial(Source, None), reader=partial(Reader, 1))) == [
        (0, 0, "Pair.source.send", ("Pair.source.out", None)),
        (0, 0, "Pair.reader.look", ("Pair.reader.seen", (True, None))),
    ]


def test_setting_twice_the_last_wins_and_later_reactions_read_it(execute: Execute) -> None:
    class Twice(Reactor):
        out = Output[int]()

        @reaction(startup, effects=out)
        def first(self, out):
            out.set(1)
            out.set(2)

        @reaction(startup, effects=out)
        def second(self, out):
            out.set(out.value + 10 if out.is_present else -1)

    assert steps(execute(Pair, source=Twice)) == [
        (0, 0, "Pair.source.first", ("Pair.source.out", 1), ("Pair.source.out", 2)),
        (0, 0, "Pair.source.second", ("Pair.source.out", 12)),
        (0, 0, "Pair.reader.hear", ("Pair.reader.seen", 12)),
    ]


def test_each_reaction_that_reads_a_mutable_input_has_its_own_deep_copy(execute: Execute) -> None:
    class Changing(Reactor):
        """Each reaction is a reader of its own."""

        inp, first, second = Input[list](mutable=True), Output[str](), Output[str]()

        @reaction(inp, effects=first)
        def change(self, inp, first):
            inp.value.append(inp.value[1])
            inp.value[1].append(3)
            first.set(repr(inp.value))

        @reaction(inp, effects=second)
        def change_again(self, inp, second):
            inp.value.append(4)
            second.set(repr(inp.value))

    class Shared(Reactor):
        def __init__(self):
            self.before, self.changing, self.after = Sink(), Bank(Changing, 2), Sink()
            self.lists = Source([1, [2]], [1, [2]])
            for reader in (self.before, self.changing, self.after):
                connect(self.lists.out, reader.inp)

    result = execute(Shared)
    for index in range(2):
        assert values(result, f"Shared.changing[{index}].first") == ["[1, [2, 3], [2, 3]]"] * 2
        assert values(result, f"Shared.changing[{index}].second") == ["[1, [2], 4]"] * 2
    for reader in ("before", "after"):
        assert values(result, f"Shared.{reader}.seen") == [[1, [2]]] * 2
    assert values(result, "Shared.lists.out") == [[1, [2]]] * 2  # the written value stayed what it was


class Turns(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[int](width=3)
    count = State(0)

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out[self.count].set(self.count * 10)
        self.count += 1


class Channels(Reactor):
    inp, seen = Input[int](width=3), Output[tuple]()
    invocations = State(0)

    @reaction(inp, effects=seen)
    def look(self, inp, seen):
        self.invocations += 1
        seen.set((self.invocations, len(inp), [(port.is_present, port.value) for port in inp], inp[2].value))


def test_multiport_is_indexed_iterated_and_measured(execute: Execute) -> None:
    absent = (False, None)
    result = execute(Pair, source=Turns, reader=Channels, timeout=2 * MSEC)
    assert values(result, "Pair.reader.seen") == [
        (1, 3, [(True, 0), absent, absent], None),
        (2, 3, [(False, 0), (True, 10), absent], None),
        (3, 3, [(False, 0), (False, 10), (True, 20)], 20),
    ]
    assert [step for step in steps(result) if step[2] == "Pair.source.beat"] == [
        (at * MSEC, 0, "Pair.source.beat", (f"Pair.source.out[{at}]", 10 * at)) for at in range(3)
    ]


def test_multiport_triggers_once_for_all_its_channels(execute: Execute) -> None:
    result = execute(Pair, source=partial(WideSource, 5, 6, 7), reader=Channels)
    assert values(result, "Pair.reader.seen") == [(1, 3, [(True, 5), (True, 6), (True, 7)], 7)]


def test_multiport_is_present_if_any_channel_is(execute: Execute) -> None:
    class Polling(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        inp, seen = Input[int](width=2), Output[bool]()

        @reaction(tick, uses=inp, effects=seen)
        def look(self, tick, inp, seen):
            seen.set(inp.is_present)

    class Polled(Reactor):
        def __init__(self):
            self.source, self.reader = Source(ABSENT, 1, ABSENT), Polling()
            connect(self.source.out, self.reader.inp[1])

    assert values(execute(Polled, timeout=2 * MSEC), "Polled.reader.seen") == [False, True, False]


def test_width_comes_from_parameters_and_expressions(execute: Execute) -> None:
    class Sized(Reactor):
        by_name = Output[int](width="n")
        by_expression, one = Output[int](width=lambda n, m: n * m), Output[int](width=1)
        sizes = Output[tuple]()

        def __init__(self, n: int = 2, m: int = 3): ...

        @reaction(startup, effects=[by_name, by_expression, one, sizes])
        def begin(self, by_name, by_expression, one, sizes):
            sizes.set((len(by_name), len(by_expression), len(one)))
            by_expression[5].set(1)
            one[0].set(2)

    sizes, rest = ("Sized.sizes", (2, 6, 1)), [("Sized.by_expression[5]", 1), ("Sized.one[0]", 2)]
    assert steps(execute(Sized)) == [(0, 0, "Sized.begin", sizes, *rest)]
    assert values(execute(Sized, n=6, m=1), "Sized.sizes") == [(6, 6, 1)]


def test_mutable_multiport_copies_each_channel(execute: Execute) -> None:
    class Mutable(Reactor):
        inp, seen = Input[list](width=2, mutable=True), Output[list]()

        @reaction(inp, effects=seen)
        def change(self, inp, seen):
            for port in inp:
                port.value.append("x")
            seen.set([list(port.value) for port in inp])

    result = execute(Pair, source=partial(Source, [1]), reader=Mutable)
    assert values(result, "Pair.reader.seen") == [[[1, "x"], [1, "x"]]]
    assert values(result, "Pair.source.out") == [[1]]

"""Rows "input, output" and "mutable input"."""

from reactorlib import MSEC, Input, LogicalAction, Output, Reactor, Timer, connect, reaction, startup
from tests.reactorlib.observing import Execute, steps, values, written


class Now(Reactor):
    """Sends 1, nothing, 3, nothing... at each millisecond."""

    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[int]()

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        if self.count % 2:
            out.set(self.count)


class Reader(Reactor):
    inp = Input[int]()
    tick = Timer(offset=0, period=1 * MSEC)
    seen = Output[tuple]()

    @reaction(tick, uses=inp, effects=seen)
    def look(self, tick, inp, seen):
        seen.set((inp.is_present, inp.value))


class Pair(Reactor):
    def __init__(self):
        self.now, self.reader = Now(), Reader()
        connect(self.now.out, self.reader.inp)


def test_presence_is_per_tag_and_the_value_is_kept(execute: Execute) -> None:
    assert values(execute(Pair, timeout=3 * MSEC), "Pair.reader.seen") == [
        (True, 1),
        (False, 1),
        (True, 3),
        (False, 3),
    ]


class Unconnected(Reactor):
    def __init__(self):
        self.reader = Reader()


def test_value_is_none_before_the_first(execute: Execute) -> None:
    assert values(execute(Unconnected, timeout=1 * MSEC), "Unconnected.reader.seen") == [(False, None)] * 2


class Microsteps(Reactor):
    again = LogicalAction()
    out = Output[int]()

    @reaction(startup, effects=[again, out])
    def begin(self, again, out):
        out.set(1)
        again.schedule()

    @reaction(again, effects=again)
    def repeat(self, again):
        if not hasattr(self, "repeated"):
            self.repeated = True
            again.schedule()


class ByAction(Reactor):
    inp = Input[int]()
    begin = Timer(offset=0)
    poll = LogicalAction()
    seen = Output[tuple]()

    @reaction(begin, poll, uses=inp, effects=[poll, seen])
    def look(self, begin, poll, inp, seen):
        seen.set((inp.is_present, inp.value))
        if begin.is_present:
            poll.schedule()


class MicrostepPair(Reactor):
    def __init__(self):
        self.source, self.reader = Microsteps(), ByAction()
        connect(self.source.out, self.reader.inp)


def test_presence_ends_with_the_microstep(execute: Execute) -> None:
    assert written(execute(MicrostepPair), "MicrostepPair.reader.seen") == [(0, 0, (True, 1)), (0, 1, (False, 1))]


class Empty(Reactor):
    out = Output[None]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(None)


class NoneReader(Reactor):
    inp = Input[None]()
    seen = Output[tuple]()

    @reaction(inp, effects=seen)
    def look(self, inp, seen):
        seen.set((inp.is_present, inp.value))


class NonePair(Reactor):
    def __init__(self):
        self.source, self.reader = Empty(), NoneReader()
        connect(self.source.out, self.reader.inp)


def test_none_is_a_value_like_any_other(execute: Execute) -> None:
    assert steps(execute(NonePair)) == [
        (0, 0, "NonePair.source.begin", ("NonePair.source.out", None)),
        (0, 0, "NonePair.reader.look", ("NonePair.reader.seen", (True, None))),
    ]


class Twice(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def first(self, out):
        out.set(1)
        out.set(2)

    @reaction(startup, effects=out)
    def second(self, out):
        out.set(out.value + 10 if out.is_present else -1)


class TwicePair(Reactor):
    def __init__(self):
        self.twice, self.reader = Twice(), NoneReader()
        connect(self.twice.out, self.reader.inp)


def test_setting_twice_the_last_wins_and_later_reactions_read_it(execute: Execute) -> None:
    assert steps(execute(TwicePair)) == [
        (0, 0, "TwicePair.twice.first", ("TwicePair.twice.out", 1), ("TwicePair.twice.out", 2)),
        (0, 0, "TwicePair.twice.second", ("TwicePair.twice.out", 12)),
        (0, 0, "TwicePair.reader.look", ("TwicePair.reader.seen", (True, 12))),
    ]


class Lists(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[list]()

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out.set([1, [2]])


class Changing(Reactor):
    inp = Input[list](mutable=True)
    seen = Output[list]()

    @reaction(inp, effects=seen)
    def change(self, inp, seen):
        inp.value.append(3)
        inp.value[1].append(4)
        seen.set(repr(inp.value))


class Looking(Reactor):
    inp = Input[list]()
    seen = Output[list]()

    @reaction(inp, effects=seen)
    def look(self, inp, seen):
        seen.set(repr(inp.value))


class Several(Reactor):
    """Each reaction is a reader of its own."""

    inp = Input[list](mutable=True)
    first = Output[list]()
    second = Output[list]()

    @reaction(inp, effects=first)
    def change(self, inp, first):
        inp.value.append("first")
        inp.value.append(inp.value[1])
        first.set(repr(inp.value))

    @reaction(inp, effects=second)
    def change_again(self, inp, second):
        inp.value.append("second")
        second.set(repr(inp.value))


class SharedInside(Reactor):
    def __init__(self):
        self.lists, self.several = Lists(), Several()
        connect(self.lists.out, self.several.inp)


def test_each_reaction_that_reads_a_mutable_input_has_its_own_copy(execute: Execute) -> None:
    result = execute(SharedInside, timeout=0)
    assert values(result, "SharedInside.several.first") == ["[1, [2], 'first', [2]]"]
    assert values(result, "SharedInside.several.second") == ["[1, [2], 'second']"]


class Shared(Reactor):
    def __init__(self):
        self.before, self.changing, self.other, self.after = Looking(), Changing(), Changing(), Looking()
        self.lists = Lists()
        connect(self.lists.out, self.before.inp)
        connect(self.lists.out, self.changing.inp)
        connect(self.lists.out, self.other.inp)
        connect(self.lists.out, self.after.inp)


def test_mutable_input_is_a_deep_copy_of_its_own(execute: Execute) -> None:
    result = execute(Shared, timeout=1 * MSEC)
    for reader in ("changing", "other"):
        assert values(result, f"Shared.{reader}.seen") == ["[1, [2, 4], 3]"] * 2
    for reader in ("before", "after"):
        assert values(result, f"Shared.{reader}.seen") == ["[1, [2]]"] * 2
    assert values(result, "Shared.lists.out") == [[1, [2]]] * 2  # the written value stayed what it was

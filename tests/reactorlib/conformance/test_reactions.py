"""Rows "reaction" and "methods, inheritance"."""

import pytest

from reactorlib import MSEC, Input, LogicalAction, Output, Reactor, Timer, connect, reaction, shutdown, startup
from tests.reactorlib.observing import Execute, reactions, steps, values


class Values(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[int]()

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        out.set(self.count)


class Using(Reactor):
    go = Input[int]()
    other = Input[int]()
    seen = Output[tuple]()

    @reaction(go, uses=other, effects=seen)
    def read(self, go, other, seen):
        seen.set((go.value, other.is_present, other.value))


class Half(Reactor):
    """Passes on even numbers."""

    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def half(self, inp, out):
        if inp.value % 2 == 0:
            out.set(inp.value)


class Uses(Reactor):
    def __init__(self):
        self.values, self.half, self.using = Values(), Half(), Using()
        connect(self.values.out, self.half.inp)
        connect(self.half.out, self.using.go)
        connect(self.values.out, self.using.other)


def test_uses_are_read_without_triggering(execute: Execute) -> None:
    result = execute(Uses, timeout=3 * MSEC)
    assert values(result, "Uses.using.seen") == [(2, True, 2), (4, True, 4)]


class UsesWriter(Reactor):
    """The reaction that reads by use runs after the one that writes, though it stands before it."""

    def __init__(self):
        self.using, self.source = UsingLate(), Values()
        connect(self.source.out, self.using.other)


class UsingLate(Reactor):
    tick = Timer(offset=0)
    other = Input[int]()
    seen = Output[int]()

    @reaction(tick, uses=other, effects=seen)
    def read(self, tick, other, seen):
        seen.set(other.value)


def test_uses_order_the_reader_after_the_writer(execute: Execute) -> None:
    result = execute(UsesWriter, timeout=0)
    assert steps(result) == [
        (0, 0, "UsesWriter.source.beat", ("UsesWriter.source.out", 1)),
        (0, 0, "UsesWriter.using.read", ("UsesWriter.using.seen", 1)),
    ]


class Once(Reactor):
    first = Timer(offset=0)
    second = Timer(offset=0)
    act = LogicalAction(min_delay=1 * MSEC)
    other = LogicalAction(min_delay=1 * MSEC)

    @reaction(startup, first, second, effects=[act, other])
    def begin(self, first, second, act, other):
        act.schedule()
        other.schedule()

    @reaction(act, other)
    def end(self, act, other): ...


def test_reaction_runs_at_most_once_per_tag(execute: Execute) -> None:
    assert reactions(execute(Once)) == [(0, 0, "Once.begin"), (1 * MSEC, 0, "Once.end")]


class Ordered(Reactor):
    tick = Timer(offset=0)
    act = LogicalAction(min_delay=0)

    def __init__(self):
        self.log = []

    @reaction(tick)
    def zulu(self, tick):
        self.log.append("zulu")

    @reaction(startup)
    def alpha(self):
        self.log.append("alpha")

    @reaction(tick, startup, effects=act)
    def mike(self, tick, act):
        self.log.append("mike")
        act.schedule(value=tuple(self.log))


class Seen(Ordered):
    seen = Output[tuple]()

    @reaction("act", effects=seen)
    def end(self, act, seen):
        seen.set(act.value)


def test_reactions_of_a_reactor_run_in_class_order(execute: Execute) -> None:
    result = execute(Ordered)
    assert reactions(result) == [(0, 0, f"Ordered.{name}") for name in ("zulu", "alpha", "mike")]


def test_order_is_that_of_one_state_seen_one_after_the_other(execute: Execute) -> None:
    assert values(execute(Seen), "Seen.seen") == [("zulu", "alpha", "mike")]


class Arguments(Reactor):
    tick = Timer(offset=0)
    one = Input[int]()
    two = Input[int](width=2)
    act = LogicalAction[int]()
    out = Output[tuple]()

    @reaction(startup, tick, act, uses=[one, two], effects=[act, out])
    def receive(self, a, b, c, d, e):
        """Trigger tick, trigger act (also an effect), uses one and two, effect out: five elements."""
        e.set((a.is_present, b.is_present, c.is_present, len(d)))
        if a.is_present:
            b.schedule(value=5)


def test_arguments_are_triggers_uses_effects_in_declared_order_each_once(execute: Execute) -> None:
    assert steps(execute(Arguments)) == [
        (0, 0, "Arguments.receive", ("Arguments.out", (True, False, False, 2))),
        (0, 1, "Arguments.receive", ("Arguments.out", (False, True, False, 2))),
    ]


class Named(Reactor):
    tick = Timer(offset=0)
    out = Output[str]()

    @reaction("tick", effects="out")
    def by_string(self, tick, out):
        out.set("string")

    @reaction("tick", startup, uses=["tick"], effects=["out"])
    def by_lists(self, tick, out):
        out.set("list")


def test_elements_are_named_by_object_or_string_alone_or_in_lists(execute: Execute) -> None:
    assert values(execute(Named), "Named.out") == ["string", "list"]


class Base(Reactor):
    tick = Timer(offset=0)
    out = Output[str]()

    def describe(self) -> str:
        return "base"

    @reaction(tick, effects=out)
    def first(self, tick, out):
        out.set(f"first {self.describe()}")

    @reaction(tick)
    def second(self, tick): ...


class Derived(Base):
    extra = Timer(offset=0)

    def describe(self) -> str:
        return f"derived from {super().describe()}"

    @reaction(extra, "tick", effects=Base.out)
    def third(self, extra, tick, out):
        out.set(f"third {self.describe()}")


class Again(Derived):
    @reaction(startup)
    def fourth(self): ...


def test_subclass_adds_its_reactions_after_those_of_the_base(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Again))] == [
        f"Again.{name}" for name in ("first", "second", "third", "fourth")
    ]


def test_methods_are_plain_python(execute: Execute) -> None:
    assert values(execute(Derived), "Derived.out") == ["first derived from base", "third derived from base"]
    assert values(execute(Base), "Base.out") == ["first base"]


class Overriding(Base):
    tick = Timer(offset=3 * MSEC)

    @reaction(tick, effects="out")
    def first(self, tick, out):
        out.set("overridden")


def test_subclass_redefines_an_element_and_a_reaction_in_place(execute: Execute) -> None:
    assert steps(execute(Overriding)) == [
        (3 * MSEC, 0, "Overriding.first", ("Overriding.out", "overridden")),
        (3 * MSEC, 0, "Overriding.second"),
    ]


class Left(Reactor):
    left = Timer(offset=0)

    def __init__(self, name: str = "n"):
        self.left_name = name

    @reaction(left)
    def on_left(self, left): ...


class Right(Reactor):
    right = Timer(offset=0)
    out = Output[str]()

    @reaction(right, effects=out)
    def on_right(self, right, out):
        out.set(self.left_name)


class Both(Left, Right):
    @reaction(startup)
    def on_both(self): ...


def test_reactors_inherit_from_several_bases(execute: Execute) -> None:
    result = execute(Both, name="given")
    assert sorted(reactions(result)[:2]) == [(0, 0, "Both.on_left"), (0, 0, "Both.on_right")]
    assert reactions(result)[2] == (0, 0, "Both.on_both")
    assert values(result, "Both.out") == ["given"]


class Top(Reactor):
    @reaction(startup)
    def top(self): ...

    @reaction(startup)
    def shared(self): ...


class West(Top):
    @reaction(startup)
    def west(self): ...

    def helper(self): ...


class East(Top):
    @reaction(startup)
    def east(self): ...

    @reaction(startup)
    def shared(self): ...


class Apart(Reactor):
    @reaction(startup)
    def apart(self): ...


class NorthWest(West):
    @reaction(startup)
    def north(self): ...

    @reaction(startup)
    def helper(self): ...


class Sides(NorthWest, East, Apart):
    @reaction(startup)
    def own(self): ...

    @reaction(startup)
    def east(self): ...


class Beside(Apart, Top): ...


class Within(West, Top): ...


@pytest.mark.parametrize(
    ("main", "names"),
    [
        (Beside, "apart top shared"),
        (Within, "top shared west"),
        (Sides, "top shared west north helper east apart own"),
        (Both, "on_left on_right on_both"),
    ],
)
def test_reactions_of_several_bases_run_left_to_right_each_once(
    execute: Execute, main: type[Reactor], names: str
) -> None:
    """What a class redefines stays in its place, and what was no reaction has none until then."""
    assert [path.rpartition(".")[2] for *_, path in reactions(execute(main))] == names.split()


class Levels(Reactor):
    """Two chains of different length from one source: by level first, then by position."""

    def __init__(self):
        self.end, self.middle, self.source = Stage(), Stage(), Stage()
        self.beside = Stage()
        connect(self.source.out, self.middle.inp)
        connect(self.middle.out, self.end.inp)
        connect(self.source.out, self.beside.inp)


class Stage(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, startup, effects=out)
    def step(self, inp, out):
        out.set(1)


def test_reactions_of_one_tag_run_by_level_then_position(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Levels))] == [
        "Levels.source.step",
        "Levels.middle.step",
        "Levels.beside.step",
        "Levels.end.step",
    ]


class Quiet(Reactor):
    tick = Timer(offset=0)
    out = Output[int]()

    @reaction(tick, effects=out)
    def nothing(self, tick, out): ...

    @reaction(shutdown)
    def end(self): ...


class Silence(Reactor):
    def __init__(self):
        self.quiet, self.stage = Quiet(), Hearing()
        connect(self.quiet.out, self.stage.inp)


class Hearing(Reactor):
    inp = Input[int]()

    @reaction(inp)
    def hear(self, inp): ...


def test_reaction_need_not_write_its_effects(execute: Execute) -> None:
    assert steps(execute(Silence)) == [(0, 0, "Silence.quiet.nothing"), (0, 1, "Silence.quiet.end")]

"""Rows "reaction" and "methods, inheritance"."""

import pytest

from reactorlib import ABSENT, MSEC, Input, LogicalAction, Output, Reactor, State, Timer, connect, reaction, startup
from tests.reactorlib.conformance.reactors import Pair, Relay, Source, noted
from tests.reactorlib.observing import Execute, reactions, steps, values


def names(result) -> list[str]:
    """The paths of the reactions that ran, without the main reactor's."""
    return [step[2].partition(".")[2] for step in reactions(result)]


def test_uses_are_read_after_they_are_written_without_triggering(execute: Execute) -> None:
    class Using(Reactor):
        go, other, seen = Input[int](), Input[int](), Output[tuple]()

        @reaction(go, uses=other, effects=seen)
        def read(self, go, other, seen):
            seen.set((go.value, other.is_present, other.value))

    class Uses(Reactor):
        def __init__(self):
            self.using, self.half, self.values = Using(), Source(ABSENT, 2, ABSENT, 4), Source(1, 2, 3, 4)
            connect(self.half.out, self.using.go)
            connect(self.values.out, self.using.other)

    assert values(execute(Uses), "Uses.using.seen") == [(2, True, 2), (4, True, 4)]


def test_reaction_runs_at_most_once_per_tag(execute: Execute) -> None:
    class Once(Reactor):
        first, second = Timer(offset=0), Timer(offset=0)
        act, other = LogicalAction(min_delay=1 * MSEC), LogicalAction(min_delay=1 * MSEC)
        end = noted(act, other)

        @reaction(startup, first, second, effects=[act, other])
        def begin(self, first, second, act, other):
            act.schedule()
            other.schedule()

    assert reactions(execute(Once)) == [(0, 0, "Once.begin"), (1 * MSEC, 0, "Once.end")]


def test_reactions_of_a_reactor_run_in_class_order_and_share_its_state(execute: Execute) -> None:
    class Ordered(Reactor):
        tick = Timer(offset=0)
        seen = Output[tuple]()
        log = State(list)

        @reaction(tick)
        def zulu(self, tick):
            self.log.append("zulu")

        @reaction(startup)
        def alpha(self):
            self.log.append("alpha")

        @reaction(tick, startup, effects=seen)
        def mike(self, tick, seen):
            seen.set(tuple(self.log))

    result = execute(Ordered)
    assert names(result) == ["zulu", "alpha", "mike"]
    assert values(result, "Ordered.seen") == [("zulu", "alpha")]


def test_arguments_are_triggers_uses_effects_in_declared_order_each_once(execute: Execute) -> None:
    class Arguments(Reactor):
        tick = Timer(offset=0)
        one, two = Input[int](), Input[int](width=2)
        act = LogicalAction[int]()
        out = Output[tuple]()

        @reaction(startup, tick, act, uses=[one, two], effects=[act, out])
        def receive(self, a, b, c, d, e):
            """Trigger tick, trigger act (also an effect), uses one and two, effect out: five elements."""
            e.set((a.is_present, b.is_present, c.is_present, len(d)))
            if a.is_present:
                b.schedule(value=5)

    assert steps(execute(Arguments)) == [
        (0, 0, "Arguments.receive", ("Arguments.out", (True, False, False, 2))),
        (0, 1, "Arguments.receive", ("Arguments.out", (False, True, False, 2))),
    ]


def test_elements_are_named_by_object_or_string_alone_or_in_lists(execute: Execute) -> None:
    class Named(Reactor):
        tick = Timer(offset=0)
        out = Output[str]()

        @reaction("tick", effects="out")
        def by_string(self, tick, out):
            out.set("string")

        @reaction("tick", startup, uses=["tick"], effects=["out"])
        def by_lists(self, tick, out):
            out.set("list")

    assert values(execute(Named), "Named.out") == ["string", "list"]


class Base(Reactor):
    tick = Timer(offset=0)
    out = Output[str]()

    def describe(self) -> str:
        return "base"

    @reaction(tick, effects=out)
    def first(self, tick, out):
        out.set(f"first {self.describe()}")

    second = noted(tick)


class Derived(Base):
    extra = Timer(offset=0)

    def describe(self) -> str:
        return f"derived from {super().describe()}"

    @reaction(extra, "tick", effects=Base.out)
    def third(self, extra, tick, out):
        out.set(f"third {self.describe()}")


def test_subclass_adds_its_reactions_after_those_of_the_base(execute: Execute) -> None:
    class Again(Derived):
        fourth = noted(startup)

    assert names(execute(Again)) == ["first", "second", "third", "fourth"]


def test_methods_are_plain_python(execute: Execute) -> None:
    assert values(execute(Derived), "Derived.out") == ["first derived from base", "third derived from base"]
    assert values(execute(Base), "Base.out") == ["first base"]


def test_subclass_redefines_an_element_and_a_reaction_in_place(execute: Execute) -> None:
    class Overriding(Base):
        tick = Timer(offset=3 * MSEC)

        @reaction(tick, effects="out")
        def first(self, tick, out):
            out.set("overridden")

    assert steps(execute(Overriding)) == [
        (3 * MSEC, 0, "Overriding.first", ("Overriding.out", "overridden")),
        (3 * MSEC, 0, "Overriding.second"),
    ]


class Left(Reactor):
    left = Timer(offset=0)
    on_left = noted(left)

    def __init__(self, name: str = "n"):
        self.left_name = name


class Right(Reactor):
    right = Timer(offset=0)
    out = Output[str]()

    @reaction(right, effects=out)
    def on_right(self, right, out):
        out.set(self.left_name)


class Both(Left, Right):
    on_both = noted(startup)


def test_constructor_and_elements_are_inherited_from_several_bases(execute: Execute) -> None:
    assert values(execute(Both, name="given"), "Both.out") == ["given"]


class Top(Reactor):
    top, shared = noted(startup), noted(startup)


class West(Top):
    west = noted(startup)

    def helper(self): ...


class East(Top):
    east, shared = noted(startup), noted(startup)


class Apart(Reactor):
    apart = noted(startup)


class NorthWest(West):
    north, helper = noted(startup), noted(startup)


class Sides(NorthWest, East, Apart):
    own, east = noted(startup), noted(startup)


class Beside(Apart, Top): ...


class Within(West, Top): ...


@pytest.mark.parametrize(
    ("main", "order"),
    [
        (Beside, "apart top shared"),
        (Within, "top shared west"),
        (Sides, "top shared west north helper east apart own"),
        (Both, "on_left on_right on_both"),
    ],
)
def test_reactions_of_several_bases_run_left_to_right_each_once(execute: Execute, main: type[Reactor], order) -> None:
    """A redefined reaction stays in its place. A plain method has no place until it becomes a reaction."""
    assert names(execute(main)) == order.split()


def test_reactions_of_one_tag_run_by_level_then_position(execute: Execute) -> None:
    class Levels(Reactor):
        """Two chains of different length from one source."""

        def __init__(self):
            self.end, self.middle, self.source, self.beside = Relay(), Relay(), Relay(), Relay()
            connect(self.source.out, self.middle.inp)
            connect(self.middle.out, self.end.inp)
            connect(self.source.out, self.beside.inp)

    assert names(execute(Levels)) == ["source.step", "middle.step", "beside.step", "end.step"]


def test_reaction_need_not_write_its_effects(execute: Execute) -> None:
    assert steps(execute(Pair, source=lambda: Relay(quiet=True))) == [(0, 0, "Pair.source.step")]

"""Row "contained reactor"."""

import pytest

from reactorlib import ABSENT, MSEC, Bank, Input, Output, Reactor, Timer, connect, reaction, startup
from reactorlib.errors import ElaborationError, ReactionError
from tests.reactorlib.conformance.reactors import Members, Source, WideSink, noted
from tests.reactorlib.observing import Execute, reactions, steps, values


class Doubler(Reactor):
    inp, out = Input[int](), Output[int]()

    @reaction(inp, effects=out)
    def double(self, inp, out):
        out.set(2 * inp.value)


def test_parent_reactions_write_a_childs_input_and_are_triggered_by_its_output(execute: Execute) -> None:
    class Parent(Reactor):
        """Its two feeding reactions write one input. The last of them wins."""

        tick = Timer(offset=0, period=1 * MSEC)
        seen = Output[tuple]()

        def __init__(self):
            self.child = Doubler()
            self.count = 0

        @reaction(tick, effects="child.inp")
        def feed(self, tick, inp):
            self.count += 1
            inp.set(self.count)

        @reaction(tick, effects="child.inp")
        def feed_again(self, tick, inp):
            if self.count == 2:
                inp.set(10)

        @reaction("child.out", effects=seen)
        def collect(self, out, seen):
            seen.set((out.is_present, out.value))

    assert steps(execute(Parent, timeout=1 * MSEC)) == [
        (0, 0, "Parent.feed", ("Parent.child.inp", 1)),
        (0, 0, "Parent.feed_again"),
        (0, 0, "Parent.child.double", ("Parent.child.out", 2)),
        (0, 0, "Parent.collect", ("Parent.seen", (True, 2))),
        (1 * MSEC, 0, "Parent.feed", ("Parent.child.inp", 2)),
        (1 * MSEC, 0, "Parent.feed_again", ("Parent.child.inp", 10)),
        (1 * MSEC, 0, "Parent.child.double", ("Parent.child.out", 20)),
        (1 * MSEC, 0, "Parent.collect", ("Parent.seen", (True, 20))),
    ]


def test_parent_reaction_reads_a_childs_output_without_being_triggered(execute: Execute) -> None:
    class Reading(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        seen = Output[tuple]()

        def __init__(self):
            self.beacon = Source(5, ABSENT, 5)

        @reaction(tick, uses="beacon.out", effects=seen)
        def look(self, tick, out, seen):
            seen.set((out.is_present, out.value))

    assert values(execute(Reading, timeout=2 * MSEC), "Reading.seen") == [(True, 5), (False, 5), (True, 5)]


def test_ports_are_imported_and_exported_through_the_hierarchy(execute: Execute) -> None:
    class Box(Reactor):
        inp, out, straight = Input[int](), Output[int](), Output[int]()

        def __init__(self, depth: int):
            if depth:
                self.inner = Box(depth - 1)
                connect(self.inner.straight, self.straight)
            else:
                self.inner = Doubler()
                connect(self.inp, self.straight)
            connect(self.inp, self.inner.inp)
            connect(self.inner.out, self.out)

    class Outside(Reactor):
        seen = Output[tuple]()

        def __init__(self):
            self.box, self.other = Box(2), Box(0)
            connect(self.box.out, self.other.inp)

        @reaction(startup, effects="box.inp")
        def begin(self, inp):
            inp.set(21)

        @reaction("other.out", uses=["box.straight", "other.straight"], effects=seen)
        def collect(self, out, box, other, seen):
            seen.set((out.value, box.value, other.value))

    assert steps(execute(Outside)) == [
        (0, 0, "Outside.begin", ("Outside.box.inp", 21)),
        (0, 0, "Outside.box.inner.inner.inner.double", ("Outside.box.inner.inner.inner.out", 42)),
        (0, 0, "Outside.other.inner.double", ("Outside.other.inner.out", 84)),
        (0, 0, "Outside.collect", ("Outside.seen", (84, 21, 42))),
    ]


def test_position_is_own_reactions_then_contained_reactors_in_order_of_creation(execute: Execute) -> None:
    """Contained reactors may stand in lists and in tuples."""

    class Leaf(Reactor):
        begin = noted(startup)

    class Tree(Reactor):
        begin = noted(startup)

        def __init__(self, depth: int = 0):
            if depth:
                self.left = Tree(depth - 1)
                self.right = [Tree(depth - 1)]
                self.fixed = (Leaf(), Leaf())
                self.bank = Bank(Leaf, 2)
            self.leaf = Leaf()

    order = ["", ".left", ".left.leaf", ".right[0]", ".right[0].leaf"]
    order += [".fixed[0]", ".fixed[1]", ".bank[0]", ".bank[1]", ".leaf"]
    assert [step[2] for step in reactions(execute(Tree, depth=1))] == [f"Tree{path}.begin" for path in order]


def test_parent_reaction_writes_the_channels_of_a_childs_multiport(execute: Execute) -> None:
    class OverMultiport(Reactor):
        def __init__(self):
            self.child = WideSink(2)

        @reaction(startup, effects="child.inp")
        def begin(self, inp):
            inp[0].set(1)
            inp[1].set(len(inp))

    inp = "OverMultiport.child.inp"
    assert steps(execute(OverMultiport)) == [
        (0, 0, "OverMultiport.begin", (f"{inp}[0]", 1), (f"{inp}[1]", 2)),
        (0, 0, "OverMultiport.child.hear", ("OverMultiport.child.seen", (1, 2))),
    ]


class Wide(Reactor):
    """As many channels out as its index says and one more; each is the input times its number."""

    inp, out = Input[int](), Output[int](width=lambda bank_index: bank_index + 1)
    total = Output[int]()

    @reaction(inp, effects=[out, total])
    def spread(self, inp, out, total):
        for channel, port in enumerate(out):
            port.set(inp.value * channel)
        total.set(inp.value)


class Nested(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    seen = Output[list]()

    def __init__(self):
        self.children = Bank(Wide, 3)
        self.child = Doubler()
        self.count = 0

    @reaction(tick, effects=["children.inp", "child.inp"], nested=True)
    def feed(self, tick, children, child):
        self.count += 1
        child.inp.set(self.count)
        for index in range(self.count % len(children) + 1):
            children[index].inp.set(10 * self.count + index)

    @reaction("child.out", "children.total", uses="children.out", effects=seen, nested=True)
    def collect(self, child, children, seen):
        totals = [c.total.value if c.total.is_present else None for c in children]
        seen.set([child.out.value, totals, children[2].out.is_present, [port.value for port in children[1].out]])


@pytest.mark.parametrize(("count", "path"), [(None, "Nested"), (40, "Members.members[39]")])
def test_ports_of_contained_reactors_may_come_by_reactor(execute: Execute, count: int | None, path: str) -> None:
    """Each member has its own multiport. All ports of a contained reactor are one argument, also in a compiled loop."""
    many = {"kind": Nested, "count": count} if count else {}
    assert values(execute(Members if count else Nested, **many, timeout=2 * MSEC), f"{path}.seen") == [
        [2, [10, 11, None], False, [0, 11]],
        [4, [20, 21, 22], True, [0, 21]],
        [6, [30, None, None], False, [0, 21]],
    ]


def test_a_contained_reactor_gives_the_ports_that_are_named(execute: Execute) -> None:
    class WithChild(Reactor):
        def __init__(self):
            self.child = Doubler()

    class ReadsMore(WithChild):
        @reaction(startup, effects="child.inp", nested=True)
        def read(self, child):
            child.out.set(1)

    class SetsAnOutput(WithChild):
        @reaction(startup, effects="child.inp")
        def begin(self, inp):
            inp.set(1)

        @reaction("child.out", nested=True)
        def hear(self, child):
            child.out.set(1)

    class OneArgument(WithChild):
        @reaction("child.out", effects="child.inp", nested=True)
        def both(self, out, inp): ...

    with pytest.raises(ReactionError, match=r"inp of ReadsMore\.child, not out"):
        execute(ReadsMore)
    with pytest.raises(ReactionError, match=r"SetsAnOutput\.child\.out\.set\(\)"):
        execute(SetsAnOutput)
    with pytest.raises(ElaborationError, match=r"OneArgument.both: .* expected \(self, child\)"):
        execute(OneArgument)

"""Row "contained reactor"."""

import pytest

from reactorlib import (
    MSEC,
    Bank,
    ElaborationError,
    Input,
    Output,
    ReactionError,
    Reactor,
    Timer,
    connect,
    reaction,
    startup,
)
from tests.reactorlib.observing import Execute, reactions, steps, values


class Doubler(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def double(self, inp, out):
        out.set(2 * inp.value)


class Parent(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    seen = Output[tuple]()

    def __init__(self):
        self.child = Doubler()
        self.count = 0

    @reaction(tick, effects="child.inp")
    def feed(self, tick, inp):
        self.count += 1
        inp.set(self.count)

    @reaction("child.out", effects=seen)
    def collect(self, out, seen):
        seen.set((out.is_present, out.value))


def test_parent_reaction_writes_a_childs_input_and_is_triggered_by_its_output(execute: Execute) -> None:
    assert steps(execute(Parent, timeout=1 * MSEC)) == [
        (0, 0, "Parent.feed", ("Parent.child.inp", 1)),
        (0, 0, "Parent.child.double", ("Parent.child.out", 2)),
        (0, 0, "Parent.collect", ("Parent.seen", (True, 2))),
        (1 * MSEC, 0, "Parent.feed", ("Parent.child.inp", 2)),
        (1 * MSEC, 0, "Parent.child.double", ("Parent.child.out", 4)),
        (1 * MSEC, 0, "Parent.collect", ("Parent.seen", (True, 4))),
    ]


class Beacon(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    out = Output[int]()

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out.set(5)


class Reading(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    seen = Output[tuple]()

    def __init__(self):
        self.beacon = Beacon()

    @reaction(tick, uses="beacon.out", effects=seen)
    def look(self, tick, out, seen):
        seen.set((out.is_present, out.value))


def test_parent_reaction_reads_a_childs_output_without_being_triggered(execute: Execute) -> None:
    assert values(execute(Reading, timeout=2 * MSEC), "Reading.seen") == [(True, 5), (False, 5), (True, 5)]


class Twice(Reactor):
    def __init__(self):
        self.child = Doubler()

    @reaction(startup, effects="child.inp")
    def first(self, inp):
        inp.set(1)

    @reaction(startup, effects="child.inp")
    def second(self, inp):
        inp.set(10)


def test_two_parent_reactions_write_one_input_and_the_last_wins(execute: Execute) -> None:
    assert steps(execute(Twice)) == [
        (0, 0, "Twice.first", ("Twice.child.inp", 1)),
        (0, 0, "Twice.second", ("Twice.child.inp", 10)),
        (0, 0, "Twice.child.double", ("Twice.child.out", 20)),
    ]


class Box(Reactor):
    """Ports imported and exported through two levels, and one straight through."""

    inp = Input[int]()
    out = Output[int]()
    straight = Output[int]()

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
        self.box = Box(2)

    @reaction(startup, effects="box.inp")
    def begin(self, inp):
        inp.set(21)

    @reaction("box.out", "box.straight", effects=seen)
    def collect(self, out, straight, seen):
        seen.set((out.value, straight.value))


def test_ports_are_imported_and_exported_through_the_hierarchy(execute: Execute) -> None:
    assert steps(execute(Outside)) == [
        (0, 0, "Outside.begin", ("Outside.box.inp", 21)),
        (0, 0, "Outside.box.inner.inner.inner.double", ("Outside.box.inner.inner.inner.out", 42)),
        (0, 0, "Outside.collect", ("Outside.seen", (42, 21))),
    ]


class Leaf(Reactor):
    @reaction(startup)
    def begin(self): ...


class Tree(Reactor):
    def __init__(self, depth: int = 0):
        if depth:
            self.left = Tree(depth - 1)
            self.right = Tree(depth - 1)
        self.leaf = Leaf()

    @reaction(startup)
    def begin(self): ...


def test_position_is_own_reactions_then_contained_reactors_in_order_of_creation(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Tree, depth=1))] == [
        "Tree.begin",
        "Tree.left.begin",
        "Tree.left.leaf.begin",
        "Tree.right.begin",
        "Tree.right.leaf.begin",
        "Tree.leaf.begin",
    ]


class Collections(Reactor):
    def __init__(self):
        self.several = [Leaf(), Leaf()]
        self.fixed = (Leaf(),)
        self.bank = Bank(Leaf, 2)


def test_contained_reactors_may_stand_in_lists_and_tuples(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Collections))] == [
        "Collections.several[0].begin",
        "Collections.several[1].begin",
        "Collections.fixed[0].begin",
        "Collections.bank[0].begin",
        "Collections.bank[1].begin",
    ]


class Multiport(Reactor):
    inp = Input[int](width=2)
    out = Output[int](width=2)

    @reaction(inp, effects=out)
    def swap(self, inp, out):
        out[0].set(inp[1].value)
        out[1].set(inp[0].value)


class OverMultiport(Reactor):
    seen = Output[tuple]()

    def __init__(self):
        self.child = Multiport()

    @reaction(startup, effects="child.inp")
    def begin(self, inp):
        inp[0].set(1)
        inp[1].set(2)

    @reaction("child.out", effects=seen)
    def collect(self, out, seen):
        seen.set((len(out), [port.value for port in out]))


def test_parent_reaction_reaches_the_channels_of_a_childs_multiport(execute: Execute) -> None:
    assert steps(execute(OverMultiport)) == [
        (0, 0, "OverMultiport.begin", ("OverMultiport.child.inp[0]", 1), ("OverMultiport.child.inp[1]", 2)),
        (
            0,
            0,
            "OverMultiport.child.swap",
            ("OverMultiport.child.out[0]", 2),
            ("OverMultiport.child.out[1]", 1),
        ),
        (0, 0, "OverMultiport.collect", ("OverMultiport.seen", (2, [2, 1]))),
    ]


class Wide(Reactor):
    """As many channels out as its index says and one more; each is the input times its number."""

    inp = Input[int]()
    out = Output[int](width=lambda bank_index: bank_index + 1)
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


class ManyNested(Reactor):
    def __init__(self):
        self.parents = Bank(Nested, 40)


def test_ports_of_contained_reactors_may_come_by_reactor(execute: Execute) -> None:
    """Each member has its own multiport, and what is set and read of it is one argument; alike in a compiled loop."""
    expected = [
        [2, [10, 11, None], False, [0, 11]],
        [4, [20, 21, 22], True, [0, 21]],
        [6, [30, None, None], False, [0, 21]],
    ]
    result = execute(Nested, timeout=2 * MSEC)
    assert values(result, "Nested.seen") == expected
    result = execute(ManyNested, timeout=2 * MSEC)
    assert values(result, "ManyNested.parents[39].seen") == expected


class ReadsMore(Reactor):
    def __init__(self):
        self.child = Doubler()

    @reaction(startup, effects="child.inp", nested=True)
    def read(self, child):
        child.out.set(1)


class SetsAnOutput(Reactor):
    def __init__(self):
        self.child = Doubler()

    @reaction(startup, effects="child.inp")
    def begin(self, inp):
        inp.set(1)

    @reaction("child.out", nested=True)
    def hear(self, child):
        child.out.set(1)


class OneArgument(Reactor):
    def __init__(self):
        self.child = Doubler()

    @reaction("child.out", effects="child.inp", nested=True)
    def both(self, out, inp): ...


def test_a_contained_reactor_gives_the_ports_that_are_named(execute: Execute) -> None:
    with pytest.raises(ReactionError, match=r"the reaction is given inp of ReadsMore\.child, not out"):
        execute(ReadsMore)
    with pytest.raises(ReactionError, match=r"SetsAnOutput\.child\.out\.set\(\) by a reaction"):
        execute(SetsAnOutput)
    with pytest.raises(ElaborationError, match=r"OneArgument.both: takes \(self, out, inp\), expected \(self, child\)"):
        execute(OneArgument)

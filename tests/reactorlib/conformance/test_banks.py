"""Row "bank"."""

import pytest

from reactorlib import (
    Bank,
    ElaborationError,
    Input,
    Output,
    Reactor,
    connect,
    elaborate,
    interleaved,
    per_member,
    reaction,
    run,
    startup,
)
from tests.reactorlib.observing import Execute, reactions, values


class Member(Reactor):
    inp = Input[str]()
    out = Output[str](width="n")
    seen = Output[str]()

    def __init__(self, name: str = "m", n: int = 1):
        self.name = name

    @reaction(startup, effects=out)
    def begin(self, out):
        for channel, port in enumerate(out):
            port.set(f"{self.name}{self.bank_index}{channel}")

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(inp.value)


class Collector(Reactor):
    inp = Input[str](width="n")
    seen = Output[tuple]()

    def __init__(self, n: int):
        pass

    @reaction(inp, effects=seen)
    def collect(self, inp, seen):
        seen.set(tuple(port.value for port in inp))


class Flat(Reactor):
    def __init__(self):
        self.bank = Bank(Member, 3, "b", n=2)
        self.collector = Collector(6)
        connect(self.bank.out, self.collector.inp)


def test_bank_is_n_instances_constructed_with_the_same_arguments(execute: Execute) -> None:
    result = execute(Flat)
    assert reactions(result)[:3] == [(0, 0, f"Flat.bank[{index}].begin") for index in range(3)]
    assert values(result, "Flat.bank[2].out[1]") == ["b21"]


def test_ports_of_a_bank_flatten_bank_major(execute: Execute) -> None:
    assert values(execute(Flat), "Flat.collector.seen") == [("b00", "b01", "b10", "b11", "b20", "b21")]


class Interleaved(Reactor):
    def __init__(self):
        self.bank = Bank(Member, 3, "b", n=2)
        self.collector = Collector(6)
        connect(interleaved(self.bank.out), self.collector.inp)


def test_interleaved_flattens_channel_major(execute: Execute) -> None:
    result = execute(Interleaved)
    assert values(result, "Interleaved.collector.seen") == [("b00", "b10", "b20", "b01", "b11", "b21")]


class InterleavedRight(Reactor):
    def __init__(self):
        self.source = Member("s", n=6)
        self.bank = Bank(Collector, 3, 2)
        connect(self.source.out, interleaved(self.bank.inp))


def test_interleaved_on_the_right_side(execute: Execute) -> None:
    result = execute(InterleavedRight)
    assert [values(result, f"InterleavedRight.bank[{index}].seen") for index in range(3)] == [
        [("s00", "s03")],
        [("s01", "s04")],
        [("s02", "s05")],
    ]


class Group(Reactor):
    out = Output[str](width=lambda size, n: size * n)

    def __init__(self, size: int = 2, n: int = 2):
        self.members = Bank(Member, size, f"g{self.bank_index}-", n)
        connect(self.members.out, self.out)


class Nested(Reactor):
    def __init__(self):
        self.groups = Bank(Group, 2)
        self.collector = Collector(8)
        connect(self.groups.out, self.collector.inp)


def test_nested_banks_multiply(execute: Execute) -> None:
    result = execute(Nested)
    begun = [step for step in reactions(result) if step[2].endswith("begin")]
    assert begun == [
        (0, 0, f"Nested.groups[{group}].members[{member}].begin") for group in range(2) for member in range(2)
    ]
    assert values(result, "Nested.collector.seen") == [
        tuple(f"g{group}-{member}{channel}" for group in range(2) for member in range(2) for channel in range(2))
    ]


class BankToBank(Reactor):
    def __init__(self):
        self.left = Bank(Member, 3, "l")
        self.right = Bank(Member, 3, "r")
        connect(self.left.out, self.right.inp)


def test_bank_to_bank_connects_member_by_member(execute: Execute) -> None:
    result = execute(BankToBank)
    assert [values(result, f"BankToBank.right[{index}].seen") for index in range(3)] == [["l00"], ["l10"], ["l20"]]


class Width(Reactor):
    def __init__(self, n: int):
        self.bank = Bank(Member, n)


def test_bank_width_comes_from_a_parameter(execute: Execute) -> None:
    assert len(reactions(execute(Width, n=4))) == 4
    assert len(reactions(execute(Width, n=1))) == 1
    assert reactions(execute(Width, n=1)) == [(0, 0, "Width.bank[0].begin")]


class Iterated(Reactor):
    """A bank is indexed, iterated and measured where that is handier than flattening."""

    def __init__(self):
        self.sources = Bank(Member, 3, "s")
        self.sinks = Bank(Member, 3, "t")
        for index, source in enumerate(self.sources):
            connect(source.out, self.sinks[len(self.sinks) - 1 - index].inp)


def test_bank_members_are_indexed_and_iterated(execute: Execute) -> None:
    result = execute(Iterated)
    assert [values(result, f"Iterated.sinks[{index}].seen") for index in range(3)] == [["s20"], ["s10"], ["s00"]]


class Writing(Reactor):
    def __init__(self):
        self.bank = Bank(Member, 3)

    @reaction(startup, effects="bank.inp")
    def begin(self, inp):
        for index, port in enumerate(inp):
            port.set(str(index))

    @reaction("bank.seen")
    def look(self, seen): ...


def test_parent_reaction_writes_every_member_of_a_bank(execute: Execute) -> None:
    result = execute(Writing)
    assert [values(result, f"Writing.bank[{index}].seen") for index in range(3)] == [["0"], ["1"], ["2"]]
    assert (0, 0, "Writing.look") in reactions(result)


class Alone(Reactor):
    """A bank of one member is a bank all the same: programs do not change their shape with a parameter."""

    seen = Output[tuple]()

    def __init__(self, n: int = 1):
        self.bank = Bank(Member, n, "b")

    @reaction(startup, effects="bank.inp")
    def write(self, inp):
        for index, port in enumerate(inp):
            port.set(str(index))

    @reaction("bank.out", uses="bank.seen", effects=seen)
    def look(self, out, heard, seen):
        seen.set((len(out), out[0].value, [port.value for port in heard], heard.is_present))


def test_ports_of_a_bank_of_one_are_indexed_and_iterated(execute: Execute) -> None:
    assert values(execute(Alone), "Alone.seen") == [(1, "b00", ["0"], True)]
    assert values(execute(Alone, n=2), "Alone.seen") == [(2, "b00", ["0", "1"], True)]


class Reading(Reactor):
    seen = Output[tuple]()

    def __init__(self):
        self.bank = Bank(Member, 2, "b", n=2)

    @reaction("bank.out", effects=seen)
    def look(self, out, seen):
        seen.set((len(out), out.is_present, tuple(port.value for port in out)))


def test_parent_reaction_reads_a_bank_flattened_bank_major(execute: Execute) -> None:
    assert values(execute(Reading), "Reading.seen") == [(4, True, ("b00", "b01", "b10", "b11"))]


class Private(Reactor):
    _out = Output[int]()

    @reaction(startup, effects=_out)
    def begin(self, _out):
        _out.set(self.bank_index)


class Reads(Reactor):
    seen = Output[tuple]()

    def __init__(self, n: int):
        self.members = Bank(Private, n)
        self.sink = PrivateSink(n)
        connect(self.members._out, self.sink.inp)

    @reaction("members._out", uses="members[0]._out", effects=seen)
    def read(self, members, first, seen):
        seen.set(([port.value for port in members], first.value))


class PrivateSink(Reactor):
    inp = Input[int](width="n")
    seen = Output[tuple]()

    def __init__(self, n: int):
        pass

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(tuple(inp.value))


@pytest.mark.parametrize("n", [1, 2])
def test_a_bank_and_its_first_member_are_two_arguments_whatever_the_width(execute: Execute, n: int) -> None:
    result = execute(Reads, n=n)
    assert values(result, "Reads.seen") == [(list(range(n)), 0)]
    assert values(result, "Reads.sink.seen") == [tuple(range(n))]  # and a port may have a private name


class Rows(Reactor):
    def __init__(self, size: int):
        self.members = Bank(
            Member, size, per_member(lambda index: f"m{size - index}-"), n=per_member([2, 1, 3].__getitem__)
        )
        self.collector = Collector(6)
        connect(self.members.out, self.collector.inp)


def test_arguments_of_a_bank_may_be_each_members_own(execute: Execute) -> None:
    result = execute(Rows, size=3)
    assert values(result, "Rows.collector.seen") == [("m3-00", "m3-01", "m2-10", "m1-20", "m1-21", "m1-22")]


def test_an_argument_per_member_is_one_of_a_bank() -> None:
    alone = type("Alone", (Reactor,), {"__init__": lambda self: setattr(self, "one", Member(n=per_member(len)))})
    with pytest.raises(
        ElaborationError, match=r"Alone\.Member: n=per_member\(\.\.\.\) is for a Bank .*test_banks\.py:"
    ):
        elaborate(alone)
    with pytest.raises(TypeError, match=r"per_member takes a function of the bank index, got 3"):
        per_member(3)  # type: ignore[arg-type]


class Named(Reactor):
    """Its parameters have the names that are ours: of Bank, of its metaclass, of what makes and draws programs."""

    out = Output[list](width="bank_index")

    def __init__(this, self, cls, width, program, bank_index, name, args, kwargs, repeat, where=0, **more):  # noqa: N805
        this.given = [self, cls, width, program, bank_index, name, args, kwargs, repeat, where, more]

    @reaction(startup, effects=out)
    def begin(self, out):
        for port in out:
            port.set(self.given)


NAMES = ("self", "cls", "width", "program", "bank_index", "name", "args", "kwargs", "repeat", "where", "parameters")


class Names(Reactor):
    def __init__(self):
        self.bank = Bank(Named, 2, **{name: number for number, name in enumerate(NAMES)})


def test_parameters_may_have_any_name(execute: Execute) -> None:
    given = {name: number for number, name in enumerate(NAMES)}
    expected = [*range(10), {"parameters": 10}]
    result = execute(Names)
    assert [values(result, f"Names.bank[{index}].out[3]") for index in range(2)] == [[expected], [expected]]
    program = elaborate(Named, **given)
    assert program.parameters == given
    assert values(execute(program), "Named.out[0]") == [expected]
    assert values(run(Named, fast=True, trace=True, **given), "Named.out[0]") == [expected]

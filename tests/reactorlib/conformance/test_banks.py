"""Row "bank"."""

import pytest

from reactorlib import Bank, Input, Output, Reactor, connect, elaborate, interleaved, per_member, reaction, run, startup
from tests.reactorlib.conformance.reactors import WideSink, WideSource
from tests.reactorlib.observing import Execute, reactions, values


class Member(Reactor):
    inp, out, seen = Input[str](), Output[str](width="n"), Output[str]()

    def __init__(self, name: str = "m", n: int = 1):
        self.name = name

    @reaction(startup, effects=out)
    def begin(self, out):
        for channel, port in enumerate(out):
            port.set(f"{self.name}{self.bank_index}{channel}")

    @reaction(inp, effects=seen)
    def hear(self, inp, seen):
        seen.set(inp.value)


def seen(result, bank: str, count: int = 3) -> list:
    """The first report of each member."""
    return [values(result, f"{bank}[{index}].seen")[0] for index in range(count)]


class Flat(Reactor):
    def __init__(self):
        self.bank = Bank(Member, 3, "b", n=2)
        self.flat, self.by_channel = WideSink(6), WideSink(6)
        connect(self.bank.out, self.flat.inp)
        connect(interleaved(self.bank.out), self.by_channel.inp)
        self.source = WideSource(*range(6))
        self.sinks = Bank(WideSink, 3, 2)
        connect(self.source.out, interleaved(self.sinks.inp))


def test_ports_of_a_bank_flatten_bank_major_and_interleaved_channel_major(execute: Execute) -> None:
    result = execute(Flat)
    assert values(result, "Flat.flat.seen") == [("b00", "b01", "b10", "b11", "b20", "b21")]
    assert values(result, "Flat.by_channel.seen") == [("b00", "b10", "b20", "b01", "b11", "b21")]
    assert seen(result, "Flat.sinks") == [(0, 3), (1, 4), (2, 5)]  # interleaved on the right side


def test_nested_banks_multiply(execute: Execute) -> None:
    class Group(Reactor):
        out = Output[str](width=lambda size, n: size * n)

        def __init__(self, size: int = 2, n: int = 2):
            self.members = Bank(Member, size, f"g{self.bank_index}-", n)
            connect(self.members.out, self.out)

    class Nested(Reactor):
        def __init__(self):
            self.groups = Bank(Group, 2)
            self.collector = WideSink(8)
            connect(self.groups.out, self.collector.inp)

    result = execute(Nested)
    begun = [step for step in reactions(result) if step[2].endswith("begin")]
    assert begun == [
        (0, 0, f"Nested.groups[{group}].members[{member}].begin") for group in range(2) for member in range(2)
    ]
    assert values(result, "Nested.collector.seen") == [
        tuple(f"g{group}-{member}{channel}" for group in range(2) for member in range(2) for channel in range(2))
    ]


@pytest.mark.parametrize("n", [1, 3])
def test_banks_whose_width_is_a_parameter_connect_as_a_whole_or_by_member(execute: Execute, n: int) -> None:
    class BankToBank(Reactor):
        def __init__(self, n: int):
            self.left, self.right, self.reversed = Bank(Member, n, "l"), Bank(Member, n, "r"), Bank(Member, n)
            connect(self.left.out, self.right.inp)
            for index, source in enumerate(self.left):
                connect(source.out, self.reversed[len(self.reversed) - 1 - index].inp)

    result = execute(BankToBank, n=n)
    sent = [f"l{index}0" for index in range(n)]
    assert seen(result, "BankToBank.right", n) == sent
    assert seen(result, "BankToBank.reversed", n) == sent[::-1]


@pytest.mark.parametrize("n", [1, 2])
def test_parent_reactions_write_and_read_a_bank_flattened_bank_major(execute: Execute, n: int) -> None:
    class Around(Reactor):
        seen = Output[tuple]()

        def __init__(self, n: int):
            self.bank = Bank(Member, n, "b", n=2)

        @reaction(startup, effects="bank.inp")
        def write(self, inp):
            for index, port in enumerate(inp):
                port.set(str(index))

        @reaction("bank.out", uses="bank.seen", effects=seen)
        def look(self, out, heard, seen):
            seen.set(([port.value for port in out], out.is_present, len(heard), [port.value for port in heard]))

    result = execute(Around, n=n)
    out = [f"b{index}{channel}" for index in range(n) for channel in range(2)]
    heard = [str(index) for index in range(n)]
    assert seen(result, "Around.bank", n) == heard
    assert values(result, "Around.seen") == [(out, True, n, heard)]


@pytest.mark.parametrize("n", [1, 2])
def test_a_bank_and_its_first_member_are_two_arguments_whatever_the_width(execute: Execute, n: int) -> None:
    class Private(Reactor):
        _out = Output[int]()

        @reaction(startup, effects=_out)
        def begin(self, _out):
            _out.set(self.bank_index)

    class Reads(Reactor):
        seen = Output[tuple]()

        def __init__(self, n: int):
            self.members = Bank(Private, n)
            self.sink = WideSink(n)
            connect(self.members._out, self.sink.inp)

        @reaction("members._out", uses="members[0]._out", effects=seen)
        def read(self, members, first, seen):
            seen.set(([port.value for port in members], first.value))

    result = execute(Reads, n=n)
    assert values(result, "Reads.seen") == [(list(range(n)), 0)]
    assert values(result, "Reads.sink.seen") == [tuple(range(n))]  # and a port may have a private name


def test_arguments_of_a_bank_may_be_each_members_own(execute: Execute) -> None:
    class Rows(Reactor):
        def __init__(self, size: int):
            names = per_member(lambda index: f"m{size - index}-")
            self.members = Bank(Member, size, names, n=per_member([2, 1, 3].__getitem__))
            self.collector = WideSink(6)
            connect(self.members.out, self.collector.inp)

    result = execute(Rows, size=3)
    assert values(result, "Rows.collector.seen") == [("m3-00", "m3-01", "m2-10", "m1-20", "m1-21", "m1-22")]


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


def test_parameters_may_have_any_name(execute: Execute) -> None:
    class Names(Reactor):
        def __init__(self):
            self.bank = Bank(Named, 2, **{name: number for number, name in enumerate(NAMES)})

    given = {name: number for number, name in enumerate(NAMES)}
    expected = [*range(10), {"parameters": 10}]
    result = execute(Names)
    assert [values(result, f"Names.bank[{index}].out[3]") for index in range(2)] == [[expected], [expected]]
    program = elaborate(Named, **given)
    assert program.parameters == given
    assert values(execute(program), "Named.out[0]") == [expected]
    assert values(run(Named, fast=True, trace=True, **given), "Named.out[0]") == [expected]

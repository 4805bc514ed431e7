"""Rows "parameter" and "state"."""

from typing import Any

import pytest

from reactorlib import MSEC, Bank, Output, Reactor, State, Timer, elaborate, reaction, run, startup
from reactorlib.errors import ElaborationError, RunError
from tests.reactorlib.conformance.reactors import Members
from tests.reactorlib.observing import Execute, values, written


@pytest.mark.parametrize(
    ("given", "width", "ticks"), [({}, 2, [1, 4]), ({"width": 3, "begin": 2 * MSEC, "factor": 1}, 3, [2, 4])]
)
def test_parameters_are_constructor_arguments_with_defaults(execute: Execute, given, width, ticks) -> None:
    class Scaled(Reactor):
        out = Output[tuple](width="width")
        tick = Timer(offset="begin", period=lambda begin, factor: begin * factor)

        def __init__(self, width: int = 2, begin: int = 1 * MSEC, factor: int = 3):
            self.width = width

        @reaction(tick, effects=out)
        def beat(self, tick, out):
            out[0].set((len(out), self.width))

    result = execute(Scaled, timeout=5 * MSEC, **given)
    assert written(result, "Scaled.out[0]") == [(at * MSEC, 0, (width, width)) for at in ticks]


def test_bank_index_is_set_on_every_reactor_for_expressions_and_the_constructor_as_well(execute: Execute) -> None:
    class Indexed(Reactor):
        out = Output[int](width=lambda bank_index: bank_index + 1)

        def __init__(self):
            self.known = self.bank_index * 10

        @reaction(startup, effects=out)
        def begin(self, out):
            out[0].set((len(out), self.bank_index, self.known))

    class Banks(Reactor):
        def __init__(self):
            self.alone = Indexed()
            self.bank = Bank(Indexed, 2)

    result = execute(Banks)
    for path, index in (("alone", 0), ("bank[0]", 0), ("bank[1]", 1)):
        assert values(result, f"Banks.{path}.out[0]") == [(index + 1, index, 10 * index)]


def test_state_is_plain_attributes_with_any_name(execute: Execute) -> None:
    class Ordinary(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        out = Output[tuple]()

        def __init__(self):
            self.name, self.value, self.timeout, self.trace = "n", 1, 2, 3
            self.path = self.parent = self.program = self.reactions = self.ports = self.mode = self.level = 4
            self.instance = self.state = self.run = self.is_present = self.set = self.schedule = self.tag = 5

        @reaction(tick, effects=out)
        def beat(self, tick, out):
            self.value += self.timeout
            self.instance += 1
            out.set((self.name, self.value, self.trace, self.path, self.level, self.instance, self.tag))

    assert values(execute(Ordinary, timeout=1 * MSEC), "Ordinary.out") == [
        ("n", 3, 3, 4, 4, 6, 5),
        ("n", 5, 3, 4, 4, 7, 5),
    ]


def test_elements_may_have_any_name(execute: Execute) -> None:
    class Elements(Reactor):
        value = Timer(offset=0)
        name, timeout = Output[str](), Output[str]()
        trace = State("t")

        @reaction(value, effects=[name, timeout])
        def run(self, value, name, timeout):
            name.set(self.trace)
            timeout.set(self.trace * 2)

    result = execute(Elements)
    assert values(result, "Elements.name") == ["t"]
    assert values(result, "Elements.timeout") == ["tt"]


class Counter(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    count, seen = State(10), State(list)
    out = Output[tuple]()

    def __init__(self):
        self.plain = []

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        self.seen.append(self.count)
        self.plain.append(1)
        out.set((self.count, len(self.seen), len(self.plain)))


def test_state_starts_fresh_in_every_reactor_and_every_run_of_a_program(execute: Execute) -> None:
    program = elaborate(Members, kind=Counter, count=2)
    for _ in range(2):
        result = execute(program, timeout=1 * MSEC)
        for index in range(2):
            assert values(result, f"Members.members[{index}].out") == [(11, 1, 1), (12, 2, 2)]


@pytest.mark.parametrize(
    ("reactor", "expected"),
    [
        pytest.param("named", (3, 3, 2), id="parameters may be called args and kwargs"),
        pytest.param("by_position", (2, 3, 4), id="a constructor may pass on what it is given"),
        pytest.param("by_name", (2, 1, 2), id="by name as well"),
        pytest.param("several", 3, id="an expression sees all that a constructor takes together"),
    ],
)
def test_a_constructor_takes_parameters_in_all_of_pythons_ways(execute: Execute, reactor: str, expected: Any) -> None:
    class NamedArgs(Reactor):
        out = Output[tuple](width="args")

        def __init__(self, args: int, kwargs: int = 2):
            self.given = args, kwargs

        @reaction(startup, effects=out)
        def begin(self, out):
            out[0].set((len(out), *self.given))

    class PassedOn(NamedArgs):
        out = Output[tuple](width=2)

        def __init__(self, *args: Any, extra: int = 0, **kwargs: Any):
            super().__init__(*args, **kwargs)

    class Several(Reactor):
        out = Output[int](width=lambda names, options: len(names) + len(options))

        def __init__(self, *names: str, **options: int): ...

        @reaction(startup, effects=out)
        def begin(self, out):
            out[0].set(len(out))

    class Passing(Reactor):
        def __init__(self):
            self.named = NamedArgs(args=3)
            self.by_position, self.by_name = PassedOn(3, 4), PassedOn(args=1, extra=7)
            self.several = Several("a", "b", c=3)

    assert values(execute(Passing), f"Passing.{reactor}.out[0]") == [expected]


class NoParameters(Reactor):
    def __init__(self): ...


class NoConstructor(Reactor): ...


@pytest.mark.parametrize("main", [NoParameters, NoConstructor])
def test_parameters_that_there_are_not(main: type[Reactor]) -> None:
    with pytest.raises(ElaborationError, match=rf"{main.__name__}\(self.*\): .* 'n'"):
        elaborate(main, n=3)


def test_a_parameter_called_like_an_option_of_run_goes_by_way_of_elaborate() -> None:
    class Farm(Reactor):
        out = Output[int]()

        def __init__(self, workers: int = 4):
            self.workers = workers

        @reaction(startup, effects=out)
        def begin(self, out):
            out.set(self.workers)

    class FourWorkers(Farm):
        def __init__(self, *names: str):
            super().__init__(workers=4)

    with pytest.raises(RunError, match=r"workers= .*run\(elaborate\(Farm, workers=...\), ...\)"):
        run(Farm, workers=8)
    result = run(elaborate(Farm, workers=8), workers=1, fast=True, trace=True)
    assert values(result, "Farm.out") == [8]
    assert values(run(Farm, fast=True, trace=True), "Farm.out") == [4]
    assert values(run(FourWorkers, workers=1, fast=True, trace=True), "FourWorkers.out") == [4]


@pytest.mark.parametrize(("name", "value", "kind"), [("count", 7, "state"), ("tick", None, "timer")])
def test_an_element_is_overridden_by_an_element(execute: Execute, name: str, value: Any, kind: str) -> None:
    class Again(Counter):
        count = State(20)

    with pytest.raises(ElaborationError, match=rf"Plain.{name} overrides the {kind} {name}"):
        elaborate(type("Plain", (Counter,), {name: value}))
    assert values(execute(Again, timeout=0), "Again.out") == [(21, 1, 1)]

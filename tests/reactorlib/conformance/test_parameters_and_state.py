"""Rows "parameter" and "state"."""

from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    ElaborationError,
    Output,
    Reactor,
    RunError,
    State,
    Timer,
    elaborate,
    reaction,
    run,
    startup,
)
from tests.reactorlib.observing import Execute, values, written


class Scaled(Reactor):
    out = Output[tuple](width="width")
    tick = Timer(offset="begin", period=lambda begin, factor: begin * factor)

    def __init__(self, width: int = 2, begin: int = 1 * MSEC, factor: int = 3):
        self.width = width

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        out[0].set((len(out), self.width))


def test_parameters_are_constructor_arguments_with_defaults(execute: Execute) -> None:
    assert written(execute(Scaled, timeout=4 * MSEC), "Scaled.out[0]") == [
        (1 * MSEC, 0, (2, 2)),
        (4 * MSEC, 0, (2, 2)),
    ]


def test_parameters_of_the_main_reactor_come_with_run(execute: Execute) -> None:
    result = execute(Scaled, timeout=5 * MSEC, width=3, begin=2 * MSEC, factor=1)
    assert written(result, "Scaled.out[0]") == [(2 * MSEC, 0, (3, 3)), (4 * MSEC, 0, (3, 3))]


class Member(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(self.bank_index)


class Banks(Reactor):
    def __init__(self):
        self.alone = Member()
        self.bank = Bank(Member, 3)


def test_bank_index_is_set_on_every_reactor(execute: Execute) -> None:
    result = execute(Banks)
    assert values(result, "Banks.alone.out") == [0]
    assert [values(result, f"Banks.bank[{index}].out") for index in range(3)] == [[0], [1], [2]]


class Indexed(Reactor):
    out = Output[int](width=lambda bank_index: bank_index + 1)

    def __init__(self):
        self.known = self.bank_index * 10

    @reaction(startup, effects=out)
    def begin(self, out):
        out[0].set((len(out), self.known))


class IndexedBank(Reactor):
    def __init__(self):
        self.bank = Bank(Indexed, 2)


def test_bank_index_is_known_to_expressions_and_in_the_constructor(execute: Execute) -> None:
    result = execute(IndexedBank)
    assert values(result, "IndexedBank.bank[0].out[0]") == [(1, 0)]
    assert values(result, "IndexedBank.bank[1].out[0]") == [(2, 10)]


class Ordinary(Reactor):
    """Its state has the names that a careless runtime would want for itself."""

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


def test_state_is_plain_attributes_with_any_name(execute: Execute) -> None:
    assert values(execute(Ordinary, timeout=1 * MSEC), "Ordinary.out") == [
        ("n", 3, 3, 4, 4, 6, 5),
        ("n", 5, 3, 4, 4, 7, 5),
    ]


class Elements(Reactor):
    """Elements may have such names as well."""

    value = Timer(offset=0)
    name = Output[str]()
    timeout = Output[str]()
    trace = State("t")

    @reaction(value, effects=[name, timeout])
    def run(self, value, name, timeout):
        name.set(self.trace)
        timeout.set(self.trace * 2)


def test_elements_may_have_any_name(execute: Execute) -> None:
    result = execute(Elements)
    assert values(result, "Elements.name") == ["t"]
    assert values(result, "Elements.timeout") == ["tt"]


class Counter(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    count = State(10)
    seen = State(list)
    out = Output[tuple]()

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        self.seen.append(self.count)
        out.set((self.count, len(self.seen)))


class Counters(Reactor):
    def __init__(self):
        self.left, self.right = Counter(), Counter()


def test_declared_state_starts_fresh_in_every_reactor_and_every_run(execute: Execute) -> None:
    program = elaborate(Counters)
    for _ in range(2):
        result = execute(program, timeout=1 * MSEC)
        for side in ("left", "right"):
            assert values(result, f"Counters.{side}.out") == [(11, 1), (12, 2)]


class Constructed(Reactor):
    out = Output[int]()

    def __init__(self):
        self.fresh = []

    @reaction(startup, effects=out)
    def begin(self, out):
        self.fresh.append(1)
        out.set(len(self.fresh))


def test_constructors_run_anew_for_every_run() -> None:
    program = elaborate(Constructed)
    for _ in range(3):
        assert values(run(program, fast=True, trace=True), "Constructed.out") == [1]


class NamedArgs(Reactor):
    out = Output[tuple](width="args")

    def __init__(self, args: int, kwargs: int = 2):
        self.given = args, kwargs

    @reaction(startup, effects=out)
    def begin(self, out):
        out[0].set((len(out), *self.given))


def test_parameters_may_be_called_args_and_kwargs(execute: Execute) -> None:
    assert values(execute(NamedArgs, args=3), "NamedArgs.out[0]") == [(3, 3, 2)]


class Constant(NamedArgs):
    out = Output[tuple](width=2)


class PassedOn(Constant):
    def __init__(self, *args: Any, extra: int = 0, **kwargs: Any):
        super().__init__(*args, **kwargs)


class PassesOn(Reactor):
    def __init__(self):
        self.by_position, self.by_name = PassedOn(3, 4), PassedOn(args=1, extra=7)


def test_a_constructor_may_pass_on_what_it_is_given(execute: Execute) -> None:
    result = execute(PassesOn, timeout=2 * MSEC)
    assert values(result, "PassesOn.by_position.out[0]") == [(2, 3, 4)]
    assert values(result, "PassesOn.by_name.out[0]") == [(2, 1, 2)]


class Several(Reactor):
    out = Output[int](width=lambda names, options: len(names) + len(options))

    def __init__(self, *names: str, **options: int):
        pass

    @reaction(startup, effects=out)
    def begin(self, out):
        out[0].set(len(out))


class MakesSeveral(Reactor):
    def __init__(self):
        self.several = Several("a", "b", c=3)


def test_an_expression_sees_all_that_a_constructor_takes_together(execute: Execute) -> None:
    assert values(execute(MakesSeveral), "MakesSeveral.several.out[0]") == [3]


class NoParameters(Reactor):
    def __init__(self):
        pass


class NoConstructor(Reactor): ...


def test_parameters_that_there_are_not() -> None:
    with pytest.raises(ElaborationError, match=r"NoParameters\(self\): got an unexpected keyword argument 'n'"):
        elaborate(NoParameters, n=3)
    with pytest.raises(ElaborationError, match=r"NoConstructor has no constructor of its own .* got n"):
        elaborate(NoConstructor, n=3)


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


def test_a_parameter_called_like_an_option_of_run_goes_by_way_of_elaborate() -> None:
    with pytest.raises(RunError, match=r"workers= .*run\(elaborate\(Farm, workers=...\), ...\)"):
        run(Farm, workers=8)
    result = run(elaborate(Farm, workers=8), workers=1, fast=True, trace=True)
    assert values(result, "Farm.out") == [8]
    assert values(run(Farm, fast=True, trace=True), "Farm.out") == [4]
    assert values(run(FourWorkers, workers=1, fast=True, trace=True), "FourWorkers.out") == [4]


class Plain(Counter):
    count = 7  # type: ignore[assignment]  # what is refused


class NoTick(Counter):
    tick = None  # type: ignore[assignment]  # as above


class Again(Counter):
    count = State(20)


def test_what_is_declared_is_overridden_by_a_declaration(execute: Execute) -> None:
    with pytest.raises(ElaborationError, match=r"Plain.count overrides the state count with something that is no such"):
        elaborate(Plain)
    with pytest.raises(ElaborationError, match=r"NoTick.tick overrides the timer tick"):
        elaborate(NoTick)
    assert values(execute(Again, timeout=0), "Again.out") == [(21, 1)]

"""Programs do the same under any names of their elements. No name meets one of generated code."""

import ast
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    Input,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    State,
    Timer,
    connect,
    elaborate,
    reaction,
    startup,
)
from reactorlib.schedule.compiler import Compiler
from reactorlib.schedule.partition import partition
from reactorlib.schedule.plan import plan_of
from reactorlib.schedule.split import Splitter
from tests.choice import first
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute, steps, values

MANY = 100  # as many alike reactions become loops, also on each of three workers


class Hub(Reactor):
    ask = Timer(offset=0, period=1 * MSEC)
    answer, always = Output[int](), Output[int]()
    count = State(0)

    @reaction(ask, effects=[answer, always])
    def beat(self, ask, answer, always):
        self.count += 1
        always.set(self.count)
        if self.count % 3 == 1:
            answer.set(self.count)


class Listener(Reactor):
    inp, tick, heard = Input[int](), Input[int](), Output[Any]()

    @reaction(tick, uses=inp, effects=heard)
    def hear(self, tick, inp, heard):
        heard.set((inp.is_present, inp.value))


# Those of a cell beside the loop, its rows, its loop variables, functions and variables of the runtime, Python's own.
WORDS = """
    hub_answer hub_always hub_answer_ hub_always_out bank_step_rows bank_0_step step_ of_ tick startup shutdown reset
    index condition react cell rows send_to_worker_0 schedule time soon later go collect finish now clock record due
    context present any_present arrive switch physical deepcopy send_to_worker_2 wait_for_worker_1 may_be_present if_
    match type _ __ _1 _hub_answer __loader__ print self grüße x² if 1 #
"""
NAMES = [*WORDS.split(), "a b\nreturn", "\u0661"]


def leaf(names: list[str]) -> type[Reactor]:
    """A reactor with inputs of these names, as a class statement would make it: the first triggers, all are read."""

    def step(self: Any, *inputs: Any) -> None:
        *read, heard = inputs
        heard.set([port.value for port in read if port.is_present])

    inputs = {name: Input[int]() for name in names}
    heard = Output[Any]()
    body = reaction(inputs[names[0]], uses=list(inputs.values())[1:], effects=heard)(step)
    return type("Leaf", (Reactor,), {**inputs, "heard_by_leaf": heard, "step": body})


HEARD = [(True, 1), (False, 1), (False, 1), (True, 4), (False, 4)]
EACH = [NAMES, ["hub_answer"], ["tick"], ["bank_step_rows"], ["startup", "shutdown"]]


@pytest.mark.parametrize("names", first(1, EACH, "each name by itself; all together are always tried"))
def test_names_of_inputs_meet_no_other(execute: Execute, names: list[str]) -> None:
    """The inputs of many members in a loop, beside elements of the same names. One tag compiles to one function."""

    class Main(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)

        def __init__(self) -> None:
            self.hub = Hub()
            self.bank = Bank(leaf(names), MANY)
            self.listener = Listener()
            for member in self.bank:
                for name in names:
                    connect(self.hub.always, getattr(member, name))
            connect(self.hub.answer, self.listener.inp)
            connect(self.hub.always, self.listener.tick)

        beat = noted(tick)

    result = execute(Main, timeout=4 * MSEC)
    assert values(result, "Main.listener.heard") == HEARD
    assert values(result, f"Main.bank[{MANY - 1}].heard_by_leaf") == [[at] * len(names) for at in range(1, 6)]


def test_names_of_contained_reactors_meet_no_other(execute: Execute) -> None:
    class Main(Reactor):
        def __init__(self) -> None:
            self.source = Hub()
            for name in NAMES:
                hub, listener = Hub(), [Listener()]
                setattr(self, name, hub)
                setattr(self, f"{name} ", listener)
                connect(hub.answer, listener[0].inp)
                connect(self.source.always, listener[0].tick)

    result = execute(Main, timeout=4 * MSEC)
    for name in NAMES:
        assert values(result, f"Main.{name} [0].heard") == HEARD, name


def test_arguments_of_one_name_are_told_apart(execute: Execute) -> None:
    class Leaf(Reactor):
        always_1, always_0, out = Input[int](), Input[int](), Output[Any]()

        def __init__(self) -> None:
            self.one, self.other = Hub(), Hub()
            self.other.count = 5

        @reaction("one.always", uses=["other.always", always_1, always_0], effects=out)
        def step(self, one, other, always_1, always_0, out):
            out.set((one.value, other.value, always_1.value, always_0.value))

    class Main(Reactor):
        def __init__(self) -> None:
            self.hub = Hub()
            self.bank = Bank(Leaf, MANY)
            connect(self.hub.always, self.bank.always_1)
            connect(self.hub.answer, self.bank.always_0)

    result = execute(Main, timeout=3 * MSEC)
    expected = [(1, 6, 1, 1), (2, 7, 2, 1), (3, 8, 3, 1), (4, 9, 4, 4)]
    assert values(result, "Main.bank[0].out") == values(result, f"Main.bank[{MANY - 1}].out") == expected


def test_names_that_begin_with_an_underscore(execute: Execute) -> None:
    class Main(Reactor):
        _1, _ = LogicalAction[int](), LogicalAction[int]()
        __ = Output[int]()
        _two = Mode(initial=True)

        def __init__(self) -> None:
            self._0 = [Hub() for _ in range(2)]

        @reaction(startup, effects=[_1, _])
        def _begin(self, _1, _):
            _1.schedule(1 * MSEC, value=1)
            _.schedule(1 * MSEC, value=2)

        @reaction(_1, "_", effects=[__, _two])
        def _3(self, _1, _, __, _two):
            __.set(_1.value + _.value)

    result = execute(Main, timeout=1 * MSEC)
    assert (1 * MSEC, 0, "Main._3", ("Main.__", 3)) in steps(result)
    assert values(result, "Main._0[1].always") == [1, 2]


def identifiers(text: str) -> set[str]:
    """The names that a source uses, other than of attributes."""
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


@pytest.mark.parametrize("traced", [False, True])
def test_names_of_objects_and_of_the_schedule_have_different_forms(traced: bool) -> None:
    class Worker(Reactor):
        mode, other = Mode(initial=True), Mode()
        request, reply = Input[int](mutable=True), Output[int]()
        action = LogicalAction[int]()

        step = noted(request, effects=[reply, action, other], deadline=1 * MSEC)

        with other:
            again = noted(action, effects=mode)

    class Main(Reactor):
        def __init__(self) -> None:
            self.hub = Hub()
            self.workers = Bank(Worker, MANY)
            self.listeners = Bank(Listener, MANY)
            connect(self.hub.answer, self.workers.request)
            connect(self.hub.always, self.listeners.tick)
            connect(self.workers.reply, self.listeners.inp, after=1 * MSEC, physical=False)

        gather = noted("workers.reply", "listeners.heard")

    program = elaborate(Main)
    compiler = Compiler(program, traced)
    plan = plan_of(program, program.triggers_named(["hub.ask", "shutdown"]))
    parts = Splitter(program, partition(program, 2), copies=True).split(plan)
    sources = [compiler.write(plan), *map(compiler.write, parts.values())]
    own: set[str] = set()
    for source in sources:
        used = identifiers(source.text)
        assert all("_" in name and not name.startswith("_") for name in source.names)
        assert source.names.keys() <= used
        own |= used - source.names.keys()
    assert not any("_" in name for name in own)
    assert {"time", "soon", "later", "go", "collect", "finish", "switch", "any", "index", "react"} <= own


def test_the_source_for_a_port_has_all_its_delayed_connections() -> None:
    class Main(Reactor):
        def __init__(self):
            self.hub, self.near, self.far = Hub(), Listener(), Listener()
            connect(self.hub.always, self.near.tick, after=1 * MSEC)
            connect(self.hub.always, self.far.tick, after=1 * MSEC)

    text = elaborate(Main).source("hub.always")
    assert "near_" in text
    assert "far_" in text

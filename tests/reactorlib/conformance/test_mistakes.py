"""Mistakes of newcomers. Each is reported by name, with the right way to write it."""

from __future__ import annotations

import typing
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np
import pytest

import reactorlib as rl
from reactorlib import MSEC, Bank, Input, Output, Reactor, State, Timer, connect, elaborate, reaction, run, startup
from reactorlib.errors import EffectError, ElaborationError, ReactionError, RunError
from tests.reactorlib.conformance.reactors import Relay, noted
from tests.reactorlib.observing import Execute, values

HERE = "test_mistakes.py:"


def refused(main: Any, *words: str) -> None:
    """The one fault of a program has these words."""
    with pytest.raises(ElaborationError) as caught:
        elaborate(main)
    (fault,) = caught.value.faults
    assert [word for word in words if word not in fault] == []


class Source(Reactor):
    out, wide = Output[int](), Output[int](width=3)
    tick = Timer(0, 1 * MSEC)

    @reaction(startup, effects=[out, wide])
    def begin(self, out, wide):
        out.set(1)
        for port in wide:
            port.set(2)


def body(*parameters: str) -> Callable[..., None]:
    """A method with these parameters."""
    namespace: dict[str, Any] = {}
    exec(f"def react(self, {', '.join(parameters)}): ...", namespace)
    return namespace["react"]


class Fusion(Reactor):
    imu, gps, odometry = Input[int](), Input[int](), Input[int]()
    pose, quality = Output[int](), Output[int]()


@pytest.mark.parametrize(
    ("names", "swapped"),
    [
        ("imu gps odometry pose", "imu and gps"),
        ("gps odometry imu pose", "odometry and imu"),
        ("odometry gps imu pose", "odometry and gps and imu"),
        ("imu odometry gps pose", "imu and odometry and gps"),
        ("a gps imu odometry", None),
        ("gps imu pose odometry", "pose and odometry"),
        ("g pose odo imu", "pose and imu"),
        ("gps imu odometry pose", None),
        ("a b c d", None),
        ("quality imu odometry pose", None),
        ("gps imu *rest", None),
    ],
)
def test_arguments_that_have_each_others_names(names: str, swapped: str | None) -> None:
    react = reaction(Fusion.gps, uses=[Fusion.imu, Fusion.odometry], effects=Fusion.pose)(body(*names.split()))
    main = type("Main", (Fusion,), {"react": react})
    if swapped is None:
        elaborate(main)
    else:
        refused(main, f"Main.react: takes {swapped} in another order than (self, gps, imu, odometry, pose)")


def test_arguments_of_one_name_may_be_called_anything() -> None:
    """Two contained reactors have a port `out`: its name says nothing, and neither does one of ours for another's."""

    class Main(Reactor):
        result = Output[int]()

        def __init__(self):
            self.left, self.right = Source(), Source()

        @reaction("left.out", "right.out", effects=result)
        def react(self, left, out, result): ...

    elaborate(Main)


def test_arguments_of_a_handler_that_have_each_others_names() -> None:
    react = reaction(Fusion.gps, uses=Fusion.imu, deadline=0)(body("gps", "imu"))
    react.missed(body("imu", "gps"))
    refused(type("Main", (Fusion,), {"react": react}), "handler", "imu and gps in another order")


class Schedules(Reactor):
    logical = rl.LogicalAction[Any](min_delay=1 * MSEC)
    physical = rl.PhysicalAction[Any](min_delay=1 * MSEC)
    seen = Output[Any]()

    def __init__(self, delay: Any, action: str):
        self.delay, self.action = delay, action

    @reaction(startup, effects=[logical, physical])
    def begin(self, logical, physical):
        (physical if self.action == "physical" else logical).schedule(self.delay)

    @reaction(logical, effects=seen)
    def act(self, logical, seen):
        seen.set(repr(rl.current_tag().time))


@pytest.mark.parametrize("action", ["logical", "physical"])
@pytest.mark.parametrize(
    "value", [0.0, 2.5, 7, True, False, "text", "", None, [], np.float64(0), np.array([])], ids=repr
)
def test_a_value_in_the_place_of_the_delay(execute: Execute, value: Any, action: str) -> None:
    with pytest.raises(ReactionError, match=rf"Schedules\.{action}\.schedule\(\): extra_delay .*schedule\(value="):
        execute(Schedules, delay=value, action=action, timeout=5 * MSEC)


@pytest.mark.parametrize("delay", [0, np.int64(0), 0 * MSEC], ids=repr)
def test_a_tag_is_whole(execute: Execute, delay: Any) -> None:
    assert values(execute(Schedules, delay=delay, action="logical", timeout=5 * MSEC), "Schedules.seen") == ["1000000"]


def test_a_time_that_is_no_delay_is_no_value() -> None:
    with pytest.raises(ReactionError, match=r"negative, got -1000000 ns$") as caught:
        run(Schedules, delay=-1 * MSEC, action="logical", fast=True)
    assert (caught.value.reactor, caught.value.reaction) == ("Schedules", "begin")


@pytest.mark.parametrize("kind", [Input[int], Input, Output[list[int]], Output, Timer])
def test_a_declaration_that_is_not_called(kind: Any) -> None:
    name = (typing.get_origin(kind) or kind).__name__
    with pytest.raises(TypeError, match=rf"Main.it is the class {name}.* it = {name}\(\)"):

        class Main(Source):
            it = kind


@pytest.mark.parametrize("value", [[], {}, set(), bytearray(), np.zeros(2), deque()])
def test_a_class_attribute_that_all_reactors_share(value: Any) -> None:
    words = [type(value).__name__, "State(", "__init__", "ClassVar or Final"]
    refused(type("Main", (Source,), {"it": value}), "Main.it", *words)


def test_a_class_attribute_of_a_base_is_told_once_and_not_where_it_is_replaced() -> None:
    class Base(Reactor):
        log = []  # noqa: RUF012

    class Derived(Base):
        other = 3

    class Replaced(Base):
        log = State(list)

    class Twice(Derived):
        def __init__(self):
            self.replaced = Replaced()

    refused(Twice, "Base.log", "list", HERE)


def test_constants_and_what_cannot_change_are_no_mistake() -> None:
    class Main(Reactor):
        marked: ClassVar[list[int]] = [1]
        final: Final = np.zeros(3)
        quoted: "typing.ClassVar[dict[str, int]]" = {}  # noqa: RUF012, UP037
        plain = (1, "two", frozenset({3}), b"", 4.0, None)
        kind = int
        first = State([])
        function = staticmethod(len)
        __match_args__ = ("plain",)

    elaborate(Main)


def test_a_class_made_in_a_constructor_declares_what_it_wants() -> None:
    class Main(Reactor):
        def __init__(self):
            class Inner(Reactor):
                out = Output[int]()

            self.inner = Inner()
            self.made = type("Made", (Reactor,), {"inp": Input()})()

    elaborate(Main)


def test_a_reactor_made_in_a_class_body() -> None:
    with pytest.raises(TypeError, match=r"Main.source .*class body.* __init__"):

        class Main(Reactor):
            source = Source()


@pytest.mark.parametrize("second", [lambda _self: None, 3, Output[int]()], ids=["method", "number", "element"])
def test_a_reaction_whose_name_is_assigned_again(second: Any) -> None:
    with pytest.raises(TypeError, match=r"Main\.act is assigned twice, and the reaction act would be lost"):

        class Main(Reactor):
            @reaction(startup)
            def act(self): ...

            act = act
            act = second


class Sink(Reactor):
    inp, wide = Input[int](), Input[int](width=3)

    def __init__(self, act: Callable[[Any, Any, Any], Any]):
        self.act = act

    @reaction(inp, wide)
    def hear(self, inp, wide):
        self.act(self, inp, wide)


class Main(Reactor):
    def __init__(self, act: Callable[[Any, Any, Any], Any]):
        self.source, self.sink = Source(), Sink(act)
        connect(self.source.out, self.sink.inp)
        connect(self.source.wide, self.sink.wide)


@pytest.mark.parametrize(
    ("act", "named"),
    [
        (lambda _self, inp, _wide: inp.set(3), "inp"),
        (lambda _self, _inp, wide: wide[1].set(3), r"wide\[1\]"),
        (lambda _self, _inp, wide: wide.set([1, 2, 3]), r"wide\[0\]"),
    ],
)
def test_setting_an_input_names_it_and_the_reaction(execute: Execute, act: Any, named: str) -> None:
    with pytest.raises(ReactionError, match=rf"Main\.sink\.hear .* Main\.sink\.{named}\.set\(\)") as caught:
        execute(Main, act=act)
    assert isinstance(caught.value.__cause__, EffectError)


def test_setting_an_output_of_a_contained_reactor(execute: Execute) -> None:
    class SetsWhatItHears(Reactor):
        def __init__(self):
            self.sources = Bank(Source, 2)

        @reaction("sources.out")
        def hear(self, out):
            out[1].set(3)

    with pytest.raises(ReactionError, match=r"SetsWhatItHears\.sources\[1\]\.out\.set\(\)"):
        execute(SetsWhatItHears)


class Takes(Reactor):
    def __init__(self, size: int = 1): ...


@pytest.mark.parametrize("main", [Source, Takes])
def test_an_option_of_run_that_is_misspelt(main: type[Reactor]) -> None:
    for program in (main, elaborate(main)):
        with pytest.raises(RunError, match=r"has no option executer, .*: did you mean executor\?"):
            run(program, executer="threads")
    with pytest.raises(RunError, match=r"a Program has its parameters already, got colour"):
        run(elaborate(main), colour="red")


def test_a_parameter_that_is_misspelt() -> None:
    class TakesAny(Reactor):
        def __init__(self, **options: Any):
            self.options = options

    with pytest.raises(ElaborationError, match=r"Takes\(self, size.*\): .*'siez'"):
        run(Takes, siez=3)
    run(TakesAny, executer=1, fast=True)


def constructing(construct: Callable[[Any], Any], **elements: Any) -> type[Reactor]:
    def __init__(self: Any) -> None:  # noqa: N807
        self.source, self.bank = Source(), Bank(Source, 2)
        construct(self)

    return type("Main", (Reactor,), {"inp": Input(), "__init__": __init__, **elements})


@pytest.mark.parametrize(
    ("construct", "hint"),
    [
        (lambda main: connect(main.source.otu, main.inp), "no attribute 'otu': did you mean 'out'?"),
        (lambda main: main.source.out.otu, "has no attribute 'otu' ("),
        (lambda main: connect(main.bank.nope, main.inp), "Source has no port 'nope': there is out, wide, tick"),
        (lambda main: connect(main.bank.wid, main.inp), "Source has no port 'wid': did you mean 'wide'?"),
        (lambda main: connect(main.source.wide[3], main.inp), "IndexError"),
        (lambda main: setattr(main, "more", Bank(Takes, 2, siez=1)), "Takes(self, size"),
        (lambda main: setattr(main, "more", Takes(siez=1)), "'siez' ("),
        (lambda main: type("NoSelf", (Reactor,), {"__init__": lambda: None})(), "NoSelf(): too many positional"),
    ],
)
def test_what_a_constructor_gets_wrong(construct: Any, hint: str) -> None:
    refused(constructing(construct), hint, HERE)


def test_a_delay_without_a_unit_on_a_cycle_is_one_fault() -> None:
    class Main(Reactor):
        def __init__(self) -> None:
            self.relay = Relay()
            connect(self.relay.out, self.relay.inp, after=3)

    refused(Main, "connect(", "after must have a unit", HERE)


@pytest.mark.parametrize(
    ("element", "hint"),
    [
        (lambda: Input(width="n_port"), "'n_port': did you mean 'n_ports'? There is n_ports, rate"),
        (lambda: Input(width=lambda nports: nports), "no constructor parameter 'nports': did you mean 'n_ports'?"),
        (lambda: Timer(period="zzz"), "'zzz': there is n_ports, rate"),
    ],
)
def test_an_expression_that_misspells_a_parameter(element: Callable[[], Any], hint: str) -> None:
    def __init__(self: Any, n_ports: int = 1, rate: int = 2) -> None: ...  # noqa: N807

    refused(type("Main", (Reactor,), {"it": element(), "__init__": __init__}), "Main.it: ", hint, HERE)


def test_a_contained_reactor_that_a_reaction_misspells() -> None:
    main = constructing(lambda _main: None, react=noted("sorce.out"))
    refused(main, "no reactor 'sorce': did you mean 'source'? There is source, bank (")

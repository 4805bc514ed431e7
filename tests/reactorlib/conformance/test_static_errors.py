"""Section "Static errors": each is found before the run starts and names the elements involved by their full paths."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    ElaborationError,
    Input,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
    ReactorError,
    State,
    Timer,
    connect,
    elaborate,
    history,
    interleaved,
    reaction,
    reset,
    run,
    startup,
)
from tests.reactorlib.conformance.reactors import Relay, noted


class Source(Reactor):
    out = Output[int]()
    wide = Output[int](width=2)
    begin = noted(startup, effects=[out, wide])


class Sink(Reactor):
    inp = Input[int]()
    wide = Input[int](width=2)
    hear = noted(inp, wide)


class Other(Reactor):
    act = LogicalAction()
    out = Output[int]()
    tick = Timer()


class Box(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()


FAULTY: list[Any] = []


def names(words: str, never: str = "nothing else") -> Callable[[Any], Any]:
    """Collect a faulty program, or the constructor of one, with words of its message."""

    def collect(program: Any) -> Any:
        main = program if isinstance(program, type) else declaring(__init__=program)
        FAULTY.append(pytest.param(main, words.split(), never, id=program.__name__.replace("_", " ")))
        return program

    return collect


def declaring(**elements: Any) -> type[Reactor]:
    return type("Main", (Reactor,), elements)


def faults_of(main: Any) -> str:
    """The whole message. Nothing may have run, whether the program is elaborated alone or by `run`."""
    with pytest.raises(ElaborationError) as caught:
        elaborate(main)
    with pytest.raises(ElaborationError) as again:
        run(main, fast=True, timeout=1 * MSEC)
    assert str(again.value) == str(caught.value)
    return str(caught.value)


# Cycles


@names("cycle Main.first.step Main.second.step Main.third.step test_static_errors.py", never="outside")
@names("Main.first.out Main.second.out Main.third.out")
def a_causality_cycle_reaction_by_reaction(main):
    main.first, main.second, main.third, main.outside = Relay(), Relay(), Relay(), Relay()
    connect(main.first.out, main.second.inp)
    connect(main.second.out, main.third.inp)
    connect(main.third.out, main.first.inp)
    connect(main.third.out, main.outside.inp)


@names("cycle Main.stage.step Main.stage.out")
def a_reaction_that_triggers_itself(main):
    main.stage = Relay()
    connect(main.stage.out, main.stage.inp)


class WithStage(Reactor):
    def __init__(self):
        self.stage = Relay()


@names("cycle CycleThroughTheOrder.before CycleThroughTheOrder.after CycleThroughTheOrder.stage.step")
class CycleThroughTheOrder(WithStage):
    before = noted("stage.out")
    after = noted(startup, effects="stage.inp")


@names("cycle CycleInOneMode.before CycleInOneMode.after")
class CycleInOneMode(WithStage):
    """Modes break a cycle only between reactions of which one alone can be active."""

    one, two = Mode(initial=True), Mode()

    with one:
        before = noted("stage.out")
        after = noted(startup, effects="stage.inp")


class Pass(Reactor):
    inp, out = Input[int](), Output[int]()
    mode = Mode(initial=True)

    def __init__(self, in_mode: bool):
        if not in_mode:
            connect(self.inp, self.out)
            return
        with self.mode:
            connect(self.inp, self.out)


@names("Main.left")
def connections_that_form_a_ring(main):
    main.left, main.right = Pass(False), Pass(False)
    connect(main.left.out, main.right.inp)
    connect(main.right.out, main.left.inp)


@names("Main.left.out Main.left.inp Main.right.out Main.right.inp test_static_errors.py")
def a_ring_of_connections_in_modes(main):
    main.left, main.right = Pass(True), Pass(True)
    connect(main.left.out, main.right.inp)
    connect(main.right.out, main.left.inp)


# Sources and directions


@names("Main.sink.inp Main.left.out Main.right.out")
def a_port_with_two_connections(main):
    main.left, main.right, main.sink = Source(), Source(), Sink()
    connect(main.left.out, main.sink.inp)
    connect(main.right.out, main.sink.inp)


@names("Main.sink.inp Main.left.out Main.right.out")
def a_port_with_two_delayed_connections(main):
    main.left, main.right, main.sink = Source(), Source(), Sink()
    connect(main.left.out, main.sink.inp, after=1 * MSEC)
    connect(main.right.out, main.sink.inp, after=2 * MSEC)


@names("ConnectedAndWritten.sink.inp write ConnectedAndWritten.source.out")
class ConnectedAndWritten(Reactor):
    write = noted(startup, effects="sink.inp")

    def __init__(self):
        self.source, self.sink = Source(), Sink()
        connect(self.source.out, self.sink.inp)


@names("OwnOutputTwice.out write OwnOutputTwice.source.out")
class OwnOutputTwice(Reactor):
    out = Output[int]()
    write = noted(startup, effects=out)

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.out)


@names("Main.sink.wide[1]", never="sink.wide[0]")
def a_channel_with_two_sources(main):
    main.source, main.sink = Source(), Sink()
    connect(main.source.wide, main.sink.wide)
    connect(main.source.out, main.sink.wide[1])


@names("Main.sink.inp Main.source.out")
def ports_connected_backwards(main):
    main.source, main.sink = Source(), Sink()
    connect(main.sink.inp, main.source.out)


@names("OutputBackwards.out OutputBackwards.sink.inp")
class OutputBackwards(Reactor):
    out = Output[int]()

    def __init__(self):
        self.sink = Sink()
        connect(self.out, self.sink.inp)


class InputAsTarget(Reactor):
    inp = Input[int]()

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.inp)


@names("Main.inner.inp Main.inner.source.out")
def an_input_connected_from_inside(main):
    main.inner = InputAsTarget()


@names("Main.left.source.out Main.sink.inp")
def a_connection_out_of_a_level(main):
    main.left, main.right, main.sink = Box(), Box(), Sink()
    connect(main.left.source.out, main.sink.inp)


@names("Main.source.out Main.box.sink.inp")
def a_connection_into_a_level(main):
    main.source, main.box = Source(), Box()
    connect(main.source.out, main.box.sink.inp)


@names("Main after negative")
def a_negative_delay(main):
    main.source, main.sink = Source(), Sink()
    connect(main.source.out, main.sink.inp, after=-1 * MSEC)


# Widths


@names("Main sink.wide 3 2")
def a_left_side_wider_than_the_right(main):
    main.left, main.sink = Bank(Source, 3), Sink()
    connect(main.left.out, main.sink.wide)


@names("Main 3 2")
def a_right_side_that_is_no_multiple_of_the_left(main):
    main.source, main.sinks = Source(), Bank(Sink, 3)
    connect(main.source.wide, main.sinks.inp)


class Expressions(Reactor):
    out = Output[int](width=lambda n: n - 2)
    inp = Input[int](width=lambda n: 1 // (n - 2))
    tick = Timer(lambda n: 1 // (n - 2))
    beat = noted(tick, deadline=lambda n: 1 // (n - 2))

    def __init__(self, n: int = 2): ...


@names("8 Main.child[0].out Main.child[0].inp Main.child[0].tick Main.child[0].beat ZeroDivisionError")
@names("width offset deadline Main.child[1].out Main.child[1].inp Main.child[1].tick Main.child[1].beat")
def expressions_that_fail(main):
    main.child = Bank(Expressions, 2)


# Modes, states, several faults


@names("NoInitial initial")
class NoInitial(Reactor):
    one, two = Mode(), Mode()


@names("TwoInitial initial one two")
class TwoInitial(Reactor):
    one, two = Mode(initial=True), Mode(initial=True)


@names("IntoAnotherMode.reach act")
class IntoAnotherMode(Reactor):
    one, two = Mode(initial=True), Mode()

    with one:
        act = LogicalAction()

    with two:
        reach = noted(startup, effects=act)


class Unstateable(Reactor):
    count = State(lambda n: n)


@names("Main.Unstateable.count TypeError")
def a_state_whose_initial_value_cannot_be_made(main):
    main.held = Unstateable()


class BadBox(Reactor):
    tick = Timer(period=-2 * MSEC)


@names("Everything.out width Everything.tick offset Everything.box.tick period Everything.touch nothing")
@names("cycle Everything.first.step Everything.second.step")
@names("Everything.sink.inp Everything.left.out Everything.right.out")
class Everything(Reactor):
    """All faults are reported together."""

    out = Output[int](width=0)
    tick = Timer(offset=-1 * MSEC)
    touch = noted("nothing")

    def __init__(self):
        self.first, self.second = Relay(), Relay()
        self.left, self.right, self.sink = Source(), Source(), Sink()
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.first.inp)
        connect(self.left.out, self.sink.inp)
        connect(self.right.out, self.sink.inp)
        self.box = BadBox()


@pytest.mark.parametrize(("main", "words", "never"), FAULTY)
def test_a_static_error_names_the_elements_involved(main: Any, words: list[str], never: str) -> None:
    message = faults_of(main)
    assert [word for word in words if word not in message] == []
    assert never not in message


@pytest.mark.parametrize(
    ("element", "parts"),
    [
        (Timer(offset=-1 * MSEC), ["offset", "negative"]),
        (Timer(period=-1 * MSEC), ["period", "negative"]),
        (noted(startup, deadline=-1 * MSEC), ["deadline", "negative"]),
        (Input(width=int), ["width", "int"]),
        (State(threading.Lock()), ["TypeError"]),
        *((kind(min_delay=-1 * MSEC), ["min_delay", "negative"]) for kind in (LogicalAction, PhysicalAction)),
        *((kind(min_spacing=-1 * MSEC), ["min_spacing", "negative"]) for kind in (LogicalAction, PhysicalAction)),
        *((kind(policy="drop"), ["'drop'", "min_spacing"]) for kind in (LogicalAction, PhysicalAction)),
        *(
            (kind(min_spacing=1 * MSEC, policy="sometimes"), ["sometimes", "defer", "drop", "replace", "update"])
            for kind in (LogicalAction, PhysicalAction)
        ),
        *((kind(width=width), ["width"]) for kind in (Input, Output) for width in (0, -1, 1.5, "three", True)),
    ],
)
def test_what_an_element_declares_is_checked(element: Any, parts: list[str]) -> None:
    message = faults_of(declaring(it=element))
    assert [part for part in ["Main.it", *parts] if part not in message] == []


@pytest.mark.parametrize("width", [0, -2, 2.5, "2"], ids=repr)
def test_width_of_a_bank_must_be_a_positive_integer(width: Any) -> None:
    def construct(main):
        main.members = Bank(Sink, width)

    message = faults_of(declaring(__init__=construct))
    assert [part for part in ("width", "Sink", repr(width)) if part not in message] == []


def touching(triggers: Any = startup, **roles: Any) -> type[Reactor]:
    """A reactor with a child and a grandchild, and one reaction that touches something."""

    class Main(Reactor):
        inp = Input[int]()
        out = Output[int]()
        tick = Timer()
        touch = noted(triggers, **roles)

        def __init__(self):
            self.child, self.box, self.other = Relay(), Box(), Other()

    return Main


@pytest.mark.parametrize(
    ("roles", "element"),
    [
        ({"triggers": "nothing"}, "nothing"),
        ({"uses": "nothing"}, "nothing"),
        ({"effects": "nothing"}, "nothing"),
        ({"triggers": "child.nothing"}, "child.nothing"),
        ({"triggers": "nobody.out"}, "nobody.out"),
        ({"triggers": "child.inp"}, "child.inp"),  # a child's input is written, not read
        ({"uses": "child.inp"}, "child.inp"),
        ({"effects": "child.out"}, "child.out"),  # a child's output is read, not written
        ({"effects": "inp"}, "inp"),
        ({"triggers": "out"}, "out"),
        ({"uses": "out"}, "out"),
        ({"effects": "tick"}, "tick"),
        ({"triggers": "box.source.out"}, "box.source.out"),  # not a grandchild's
        ({"effects": "child.step"}, "child.step"),
        ({"effects": Other.act}, ""),  # not another class's
        ({"effects": Other.out}, ""),
        ({"uses": Other.out}, ""),
        ({"effects": "other.act"}, "other.act"),  # not another reactor's action or timer
        ({"triggers": "other.tick"}, "other.tick"),
    ],
    ids=str,
)
def test_reaction_names_an_element_that_it_may_not_touch(roles: dict[str, Any], element: str) -> None:
    message = faults_of(touching(**roles))
    assert "Main.touch" in message
    assert element in message


# Misuse of what declares


@pytest.mark.parametrize(
    "make",
    [
        lambda main: connect(main.source.out, "sink.inp"),
        lambda main: connect("sink.inp", main.sink.inp),
        lambda main: connect(7, main.sink.inp),
        lambda main: connect(main.source.out, 7),
        lambda main: connect(main.source.out, Sink),
        lambda main: connect(Sink, main.sink.inp),
        lambda main: connect(main.source.out, main.sink),
        lambda main: connect(Source.out, main.sink.inp),
        lambda main: interleaved(7),
        lambda main: interleaved([main.source]),
        lambda main: Bank(main.source, 2),
        lambda main: Bank(7, 2),
    ],
)
def test_what_is_no_port_and_no_class_is_told_with_its_place(make: Callable[[Any], Any]) -> None:
    def construct(main):
        main.source, main.sink = Source(), Sink()
        make(main)

    message = faults_of(declaring(__init__=construct))
    assert message.startswith(f"{__file__}:{make.__code__.co_firstlineno}: in Main, ")
    assert ("takes ports of reactors, got" in message) != ("Bank takes a reactor class, got" in message)


@pytest.mark.parametrize("wrong", [int, 7, None, "Main"])
def test_main_must_be_a_reactor_class(wrong: Any) -> None:
    for start in (elaborate, run):
        with pytest.raises(ReactorError):
            start(wrong)


@pytest.mark.parametrize("transition", [reset, history])
def test_transitions_are_made_of_modes(transition: Any) -> None:
    with pytest.raises(ReactorError):
        elaborate(declaring(go=noted(startup, effects=transition(7))))


def _go(self): ...


_go.__name__ = "go"


def test_a_body_that_a_call_does_not_run_is_refused() -> None:
    def generator(self):
        yield

    async def coroutine(self): ...

    async def both(self):
        yield

    for body, fault in ((generator, "yield"), (coroutine, "async"), (both, "yield")):
        with pytest.raises(TypeError, match=f"@reaction .*{body.__name__} .*{fault}"):
            reaction(startup)(body)
        with pytest.raises(TypeError, match=f"@go.missed .*{body.__name__} .*{fault}"):
            reaction(startup, deadline=0)(_go).missed(body)


@pytest.mark.parametrize(("role", "wrong"), [("effects", None), ("uses", 5)])
def test_roles_are_elements_or_names(role: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{role}= .* got {wrong}"):
        reaction(startup, **{role: wrong})(_go)


def test_a_name_is_declared_once() -> None:
    with pytest.raises(TypeError, match=r"Twice.go .*reaction go"):

        class Twice(Reactor):
            go = noted(startup)
            go = noted(startup)  # noqa: PIE794  # what is refused

    with pytest.raises(TypeError, match=r"Both.tick .*timer tick"):

        class Both(Reactor):
            tick = Timer(0)

            @reaction(tick)
            def tick(self, tick): ...


def test_a_class_body_may_use_a_name_again_where_nothing_is_lost() -> None:
    class Loop(Reactor):
        a, b = Mode(initial=True), Mode()
        with a as m:
            left = Timer(0)
        with b as m:
            right = Timer(0)
        for index in range(2):

            @reaction(startup)
            def begin(self, index=index): ...

            locals()[f"begin_{index}"] = begin
        del begin, m

    assert [r.path for r in elaborate(Loop).reactions] == ["Loop.begin_0", "Loop.begin_1"]


class Placeholder(Reactor):
    out = Output[int]()


class Abstract(Placeholder):
    out = None


class Concrete(Abstract):
    out = Output[int](width=2)


def test_a_declaration_may_take_the_place_of_a_placeholder() -> None:
    elaborate(Concrete)
    with pytest.raises(ElaborationError, match=r"Abstract.out .*output out"):
        elaborate(Abstract)

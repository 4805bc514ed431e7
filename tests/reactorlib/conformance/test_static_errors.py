"""Section "Static errors": each is found before the run starts and names the elements involved by their full paths."""

import re
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    Input,
    LogicalAction,
    Mode,
    Output,
    PhysicalAction,
    Reactor,
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
from reactorlib.errors import ElaborationError, ReactorError
from tests.reactorlib.conformance.reactors import Relay, noted


class Source(Reactor):
    out, wide = Output[int](), Output[int](width=2)
    begin = noted(startup, effects=[out, wide])


class Sink(Reactor):
    inp, wide = Input[int](), Input[int](width=2)
    hear = noted(inp, wide)


class Other(Reactor):
    act = LogicalAction()
    out = Output[int]()
    tick = Timer()


class Box(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()


class Pass(Reactor):
    """Connects its input to its output, in a mode or not."""

    inp, out = Input[int](), Output[int]()
    mode = Mode(initial=True)

    def __init__(self, in_mode: bool):
        with self.mode if in_mode else nullcontext():
            connect(self.inp, self.out)


class Expressions(Reactor):
    out, inp = Output[int](width=lambda n: n - 2), Input[int](width=lambda n: 1 // (n - 2))
    tick = Timer(lambda n: 1 // (n - 2))
    beat = noted(tick, deadline=lambda n: 1 // (n - 2))

    def __init__(self, n: int = 2): ...


class InputAsTarget(Reactor):
    inp = Input[int]()

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.inp)


class Unstateable(Reactor):
    count = State(lambda n: n)


PARTS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("source", "left", "right"), Source),
    **dict.fromkeys(("first", "second", "third", "outside"), Relay),
    **dict.fromkeys(("passing", "back"), lambda: Pass(in_mode=False)),
    **dict.fromkeys(("guarded", "guarding"), lambda: Pass(in_mode=True)),
    "sources": lambda: Bank(Source, 3),
    "sink": Sink,
    "sinks": lambda: Bank(Sink, 3),
    "box": Box,
    "inner": InputAsTarget,
    "held": Unstateable,
    "expressions": lambda: Bank(Expressions, 2),
}
DELAY = {"": {}, "1": {"after": 1 * MSEC}, "-1": {"after": -1 * MSEC}}


def wired(wiring: str) -> type[Reactor]:
    """A program of the parts that are named, with connections such as "left.out > sink.inp after 1"."""

    def construct(main: Any) -> None:
        for name in re.findall(r"(?<![.\w])[a-z]\w*", wiring):
            if name in PARTS and not hasattr(main, name):
                setattr(main, name, PARTS[name]())
        for source, target, after in re.findall(r"(\S+) > ([^\s,]+)(?: after ([-\d]+))?", wiring):
            connect(*(eval(f"main.{port}", {"main": main}) for port in (source, target)), **DELAY[after])

    return declaring(__init__=construct)


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


def lacking(message: str, words: str) -> list[str]:
    return [word for word in words.split() if word not in message]


FAILING = " ".join(f"Main.expressions[{index}].{name}" for index in range(2) for name in ("out", "inp", "tick", "beat"))


@pytest.mark.parametrize(
    ("wiring", "words"),
    [
        # a cycle, a reaction that triggers itself, rings without a reaction
        (
            "first.out > second.inp, second.out > third.inp, third.out > first.inp, third.out > outside.inp",
            "cycle Main.first.step Main.first.out Main.second.step Main.second.out Main.third.step Main.third.out .py",
        ),
        ("first.out > first.inp", "cycle Main.first.step Main.first.out .py"),
        ("passing.out > back.inp, back.out > passing.inp", "Main.passing"),
        (
            "guarded.out > guarding.inp, guarding.out > guarded.inp",
            "Main.guarded.out Main.guarded.inp Main.guarding.out Main.guarding.inp .py",
        ),
        # two sources of a port or of a channel
        ("left.out > sink.inp, right.out > sink.inp", "Main.sink.inp Main.left.out Main.right.out"),
        ("left.out > sink.inp after 1, right.out > sink.inp after 1", "Main.sink.inp Main.left.out Main.right.out"),
        ("left.wide > sink.wide, right.out > sink.wide[1]", "Main.sink.wide[1] Main.right.out"),
        # backwards, and across levels of the hierarchy
        ("sink.inp > source.out", "Main.sink.inp Main.source.out"),
        ("inner", "Main.inner.inp Main.inner.source.out"),
        ("box.source.out > sink.inp", "Main.box.source.out Main.sink.inp"),
        ("source.out > box.sink.inp", "Main.source.out Main.box.sink.inp"),
        # delays and widths
        ("source.out > sink.inp after -1", "Main after negative"),
        ("sources.out > sink.wide", "Main sink.wide 3 2"),
        ("source.wide > sinks.inp", "Main 3 2"),
        ("expressions", f"8 width offset deadline ZeroDivisionError {FAILING}"),
        ("held", "Main.Unstateable.count TypeError"),
    ],
)
def test_a_static_error_of_what_is_made_and_connected_names_the_elements(wiring: str, words: str) -> None:
    message = faults_of(wired(wiring))
    assert lacking(message, words) == []
    assert "outside" not in message
    assert "sink.wide[0]" not in message


class WithStage(Reactor):
    def __init__(self):
        self.stage = Relay()


class CycleOfOrder(WithStage):
    before = noted("stage.out")
    after = noted(startup, effects="stage.inp")


class CycleInOneMode(WithStage):
    """Modes break a cycle only between reactions of which one alone can be active."""

    one, two = Mode(initial=True), Mode()

    with one:
        before = noted("stage.out")
        after = noted(startup, effects="stage.inp")


class ConnectedAndWritten(Reactor):
    write = noted(startup, effects="sink.inp")

    def __init__(self):
        self.source, self.sink = Source(), Sink()
        connect(self.source.out, self.sink.inp)


class OwnOutputTwice(Reactor):
    out = Output[int]()
    write = noted(startup, effects=out)

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.out)


class OutputBackwards(Reactor):
    out = Output[int]()

    def __init__(self):
        self.sink = Sink()
        connect(self.out, self.sink.inp)


class NoInitial(Reactor):
    one, two = Mode(), Mode()


class TwoInitial(Reactor):
    one, two = Mode(initial=True), Mode(initial=True)


class IntoAnotherMode(Reactor):
    one, two = Mode(initial=True), Mode()

    with one:
        act = LogicalAction()

    with two:
        reach = noted(startup, effects=act)


class AllAtOnce(Reactor):
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
        self.box = type("Box", (Reactor,), {"tick": Timer(period=-2 * MSEC)})()


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (CycleOfOrder, "cycle CycleOfOrder.before CycleOfOrder.after CycleOfOrder.stage.step"),
        (CycleInOneMode, "cycle CycleInOneMode.before CycleInOneMode.after"),
        (ConnectedAndWritten, "ConnectedAndWritten.sink.inp write ConnectedAndWritten.source.out"),
        (OwnOutputTwice, "OwnOutputTwice.out write OwnOutputTwice.source.out"),
        (OutputBackwards, "OutputBackwards.out OutputBackwards.sink.inp"),
        (NoInitial, "NoInitial initial"),
        (TwoInitial, "TwoInitial initial one two"),
        (IntoAnotherMode, "IntoAnotherMode.reach act"),
        (AllAtOnce, "AllAtOnce.out width AllAtOnce.tick offset AllAtOnce.box.tick period AllAtOnce.touch nothing"),
        (AllAtOnce, "cycle AllAtOnce.first.step AllAtOnce.second.step AllAtOnce.sink.inp AllAtOnce.left.out"),
    ],
)
def test_a_static_error_of_what_a_class_declares_names_the_elements(main: type[Reactor], words: str) -> None:
    assert lacking(faults_of(main), words) == []


@pytest.mark.parametrize(
    ("kinds", "options", "words"),
    [
        ([Timer], {"offset": -1 * MSEC}, "offset negative"),
        ([Timer], {"period": -1 * MSEC}, "period negative"),
        ([partial(noted, startup)], {"deadline": -1 * MSEC}, "deadline negative"),
        ([partial(State, threading.Lock())], {}, "TypeError"),
        ([LogicalAction, PhysicalAction], {"min_delay": -1 * MSEC}, "min_delay negative"),
        ([LogicalAction, PhysicalAction], {"min_spacing": -1 * MSEC}, "min_spacing negative"),
        ([LogicalAction, PhysicalAction], {"policy": "drop"}, "'drop' min_spacing"),
        ([LogicalAction, PhysicalAction], {"min_spacing": MSEC, "policy": "never"}, "never defer drop replace update"),
        *(([Input, Output], {"width": width}, "width") for width in (0, -1, 1.5, "three", True, int)),
    ],
)
def test_the_arguments_of_an_element_are_checked(kinds: list[Any], options: dict[str, Any], words: str) -> None:
    for kind in kinds:
        assert lacking(faults_of(declaring(it=kind(**options))), f"Main.it {words}") == []


@pytest.mark.parametrize("width", [0, -2, 2.5, "2"], ids=repr)
def test_width_of_a_bank_must_be_a_positive_integer(width: Any) -> None:
    main = declaring(__init__=lambda main: setattr(main, "members", Bank(Sink, width)))
    assert lacking(faults_of(main), f"width Sink {width!r}") == []


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
    class Main(Reactor):
        inp, out = Input[int](), Output[int]()
        tick = Timer()
        touch = noted(roles.get("triggers", startup), **{key: roles[key] for key in roles if key != "triggers"})

        def __init__(self):
            self.child, self.box, self.other = Relay(), Box(), Other()

    assert lacking(faults_of(Main), f"Main.touch {element}") == []


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
def test_a_wrong_argument_of_connect_or_bank_is_reported_with_its_place(make: Callable[[Any], Any]) -> None:
    def construct(main):
        main.source, main.sink = Source(), Sink()
        make(main)

    message = faults_of(declaring(__init__=construct))
    assert message.startswith("Main: ")
    assert message.endswith(f" ({__file__}:{make.__code__.co_firstlineno})")
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


def test_a_body_that_a_call_does_not_run_is_refused() -> None:
    def generator(self):
        yield

    async def coroutine(self): ...

    async def both(self):
        yield

    def go(self): ...

    for body in (generator, coroutine, both):
        with pytest.raises(TypeError, match=f"@reaction: .*{body.__name__} .*plain"):
            reaction(startup)(body)
        with pytest.raises(TypeError, match=f"@go.missed: .*{body.__name__} .*plain"):
            reaction(startup, deadline=0)(go).missed(body)


@pytest.mark.parametrize(("role", "wrong"), [("effects", None), ("uses", 5)])
def test_roles_are_elements_or_names(role: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{role}= .* got {wrong}"):
        noted(startup, **{role: wrong})


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


def test_a_declaration_may_take_the_place_of_a_placeholder() -> None:
    class Placeholder(Reactor):
        out = Output[int]()

    class Abstract(Placeholder):
        out = None

    class Concrete(Abstract):
        out = Output[int](width=2)

    elaborate(Concrete)
    with pytest.raises(ElaborationError, match=r"Abstract.out .*output out"):
        elaborate(Abstract)

"""Section "Static errors": a wrong argument, name or role is reported where it is written."""

import re
import threading
from collections.abc import Callable
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
from tests.reactorlib.conformance.faulty import Box, Sink, Source, declaring, faults_of, lacking
from tests.reactorlib.conformance.reactors import Relay, noted


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


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", [Input, LogicalAction])
def test_each_member_of_a_list_must_have_such_an_element(kind: Any, nested: bool) -> None:
    class Main(Reactor):
        def __init__(self):
            self.members = [Source(), type("Other", (Reactor,), {"out": kind()})()]

        @reaction("members.out", nested=nested)
        def hear(self, members): ...

    assert lacking(faults_of(Main), "Main.hear Main.members[1].out") == []


@pytest.mark.parametrize("width", [0, -2, 2.5, "2"], ids=repr)
def test_width_of_a_bank_must_be_a_positive_integer(width: Any) -> None:
    main = declaring(__init__=lambda main: setattr(main, "members", Bank(Sink, width)))
    assert lacking(faults_of(main), f"width Sink {width!r}") == []


class Other(Reactor):
    act = LogicalAction()
    out = Output[int]()
    tick = Timer()


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


@pytest.mark.parametrize("enter", [reset, history])
@pytest.mark.parametrize("name", ["out", "act", "child.inp"])
def test_only_modes_are_entered(enter: Callable[[str], Any], name: str) -> None:
    class Main(Reactor):
        out, act = Output[int](), LogicalAction()
        touch = noted(startup, effects=enter(name))

        def __init__(self):
            self.child = Relay()

    assert lacking(faults_of(Main), f"Main.touch {name} mode reset history") == []


@pytest.mark.parametrize("effects", [(reset, history), (history, reset), (str, history), (history, str)])
def test_a_reaction_enters_a_mode_by_reset_or_by_history(effects: tuple[Callable[[str], Any], ...]) -> None:
    """A mode that is named plainly is entered by reset."""
    main = declaring(one=Mode(initial=True), touch=noted(startup, effects=[effect("one") for effect in effects]))
    assert lacking(faults_of(main), "Main.touch Main.one reset history") == []


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


@pytest.mark.parametrize(("role", "wrong"), [("effects", None), ("uses", 5), ("effects", Output[int])])
def test_roles_are_elements_or_names(role: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{role}= .* got {re.escape(repr(wrong))}"):
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

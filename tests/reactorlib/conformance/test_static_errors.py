"""Section "Static errors": each found before the run starts, each naming the elements involved by their full paths."""

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


class Stage(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def step(self, inp, out):
        out.set(inp.value)


class Source(Reactor):
    out = Output[int]()
    wide = Output[int](width=2)

    @reaction(startup, effects=[out, wide])
    def begin(self, out, wide): ...


class Sink(Reactor):
    inp = Input[int]()
    wide = Input[int](width=2)

    @reaction(inp, wide)
    def hear(self, inp, wide): ...


def faults_of(main: type[Reactor], **parameters: Any) -> str:
    """The whole message; nothing may have run, whether elaborated alone or by `run`."""
    with pytest.raises(ElaborationError) as caught:
        elaborate(main, **parameters)
    assert isinstance(caught.value, ReactorError)
    with pytest.raises(ElaborationError) as again:
        run(main, fast=True, timeout=1 * MSEC, **parameters)
    assert str(again.value) == str(caught.value)
    return str(caught.value)


def names(message: str, *parts: str) -> bool:
    """Whether the message contains every part."""
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"
    return True


class Cycle(Reactor):
    def __init__(self):
        self.first, self.second, self.third = Stage(), Stage(), Stage()
        self.outside = Stage()
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.third.inp)
        connect(self.third.out, self.first.inp)
        connect(self.third.out, self.outside.inp)


def test_causality_cycle_is_shown_reaction_by_reaction() -> None:
    message = faults_of(Cycle)
    assert names(message, "cycle", "Cycle.first.step", "Cycle.second.step", "Cycle.third.step")
    assert names(message, "Cycle.first.out", "Cycle.second.out", "Cycle.third.out")
    assert "outside" not in message
    assert names(message, "test_static_errors.py")  # with source lines


class OwnCycle(Reactor):
    """Through the order of one reactor's reactions."""

    def __init__(self):
        self.stage = Stage()

    @reaction("stage.out")
    def before(self, out): ...

    @reaction(startup, effects="stage.inp")
    def after(self, inp): ...


def test_cycle_through_the_order_of_reactions() -> None:
    assert names(faults_of(OwnCycle), "cycle", "OwnCycle.before", "OwnCycle.after", "OwnCycle.stage.step")


class SelfLoop(Reactor):
    def __init__(self):
        self.stage = Stage()
        connect(self.stage.out, self.stage.inp)


def test_reaction_that_triggers_itself_is_a_cycle() -> None:
    assert names(faults_of(SelfLoop), "cycle", "SelfLoop.stage.step", "SelfLoop.stage.out")


class NotExclusive(Reactor):
    """Modes break a cycle only between reactions of which one alone can be active."""

    one, two = Mode(initial=True), Mode()

    def __init__(self):
        self.stage = Stage()

    with one:

        @reaction("stage.out")
        def before(self, out): ...

        @reaction(startup, effects="stage.inp")
        def after(self, inp): ...


def test_one_mode_may_not_contain_a_cycle() -> None:
    assert names(faults_of(NotExclusive), "cycle", "NotExclusive.before", "NotExclusive.after")


class Pass(Reactor):
    inp = Input[int]()
    out = Output[int]()

    def __init__(self):
        connect(self.inp, self.out)


class Ring(Reactor):
    def __init__(self):
        self.left, self.right = Pass(), Pass()
        connect(self.left.out, self.right.inp)
        connect(self.right.out, self.left.inp)


def test_connections_that_form_a_ring() -> None:
    assert names(faults_of(Ring), "Ring.left")


class TwoConnections(Reactor):
    def __init__(self):
        self.left, self.right, self.sink = Source(), Source(), Sink()
        connect(self.left.out, self.sink.inp)
        connect(self.right.out, self.sink.inp)


def test_port_with_two_connections() -> None:
    assert names(
        faults_of(TwoConnections), "TwoConnections.sink.inp", "TwoConnections.left.out", "TwoConnections.right.out"
    )


class TwoDelayed(Reactor):
    def __init__(self):
        self.left, self.right, self.sink = Source(), Source(), Sink()
        connect(self.left.out, self.sink.inp, after=1 * MSEC)
        connect(self.right.out, self.sink.inp, after=2 * MSEC)


def test_delayed_connections_are_sources_as_well() -> None:
    assert names(faults_of(TwoDelayed), "TwoDelayed.sink.inp", "TwoDelayed.left.out", "TwoDelayed.right.out")


class ConnectedAndWritten(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()
        connect(self.source.out, self.sink.inp)

    @reaction(startup, effects="sink.inp")
    def write(self, inp): ...


def test_port_with_a_connection_and_a_reaction() -> None:
    assert names(
        faults_of(ConnectedAndWritten), "ConnectedAndWritten.sink.inp", "write", "ConnectedAndWritten.source.out"
    )


class OutputTwice(Reactor):
    out = Output[int]()

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.out)

    @reaction(startup, effects=out)
    def write(self, out): ...


def test_own_output_with_a_connection_and_a_reaction() -> None:
    assert names(faults_of(OutputTwice), "OutputTwice.out", "write", "OutputTwice.source.out")


class OneChannelTwice(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()
        connect(self.source.wide, self.sink.wide)
        connect(self.source.out, self.sink.wide[1])


def test_channel_with_two_sources() -> None:
    message = faults_of(OneChannelTwice)
    assert names(message, "OneChannelTwice.sink.wide[1]")
    assert "sink.wide[0]" not in message


class Backwards(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()
        connect(self.sink.inp, self.source.out)


class OwnOutputBackwards(Reactor):
    out = Output[int]()

    def __init__(self):
        self.sink = Sink()
        connect(self.out, self.sink.inp)


class OwnInputAsTarget(Reactor):
    inp = Input[int]()

    def __init__(self):
        self.source = Source()
        connect(self.source.out, self.inp)


class Outer(Reactor):
    def __init__(self):
        self.inner = OwnInputAsTarget()


def test_ports_connected_backwards() -> None:
    assert names(faults_of(Backwards), "Backwards.sink.inp", "Backwards.source.out")
    assert names(faults_of(OwnOutputBackwards), "OwnOutputBackwards.out", "OwnOutputBackwards.sink.inp")
    assert names(faults_of(Outer), "Outer.inner.inp", "Outer.inner.source.out")


class Box(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()


class AcrossLevels(Reactor):
    def __init__(self):
        self.left, self.right = Box(), Box()
        self.sink = Sink()
        connect(self.left.source.out, self.sink.inp)


class IntoLevels(Reactor):
    def __init__(self):
        self.source, self.box = Source(), Box()
        connect(self.source.out, self.box.sink.inp)


def test_connection_across_levels_of_the_hierarchy() -> None:
    assert names(faults_of(AcrossLevels), "AcrossLevels.left.source.out", "AcrossLevels.sink.inp")
    assert names(faults_of(IntoLevels), "IntoLevels.source.out", "IntoLevels.box.sink.inp")


class WidthMismatch(Reactor):
    def __init__(self, left: int):
        self.left, self.sink = Bank(Source, left), Sink()
        connect(self.left.out, self.sink.wide)


def test_left_side_wider_than_the_right_is_reported() -> None:
    assert names(faults_of(WidthMismatch, left=3), "WidthMismatch", "sink.wide", "3", "2")


class OddBroadcast(Reactor):
    def __init__(self):
        self.source, self.sinks = Source(), Bank(Sink, 3)
        connect(self.source.wide, self.sinks.inp)


def test_right_side_that_is_no_multiple_of_the_left_is_reported() -> None:
    assert names(faults_of(OddBroadcast), "OddBroadcast", "3", "2")


@pytest.mark.parametrize("kind", [LogicalAction, PhysicalAction])
def test_policy_without_a_spacing(kind: type) -> None:
    with pytest.raises(ElaborationError, match=r"Main.act: policy 'drop' without a spacing: give it a min_spacing"):
        elaborate(type("Main", (Reactor,), {"act": kind(policy="drop")}))


@pytest.mark.parametrize("kind", [LogicalAction, PhysicalAction])
def test_unknown_policy(kind: type) -> None:
    with pytest.raises(ReactorError, match="sometimes") as caught:
        elaborate(type("Main", (Reactor,), {"act": kind(min_spacing=1 * MSEC, policy="sometimes")}))
    assert names(str(caught.value), "defer", "drop", "replace", "update")


@pytest.mark.parametrize(
    ("element", "parameter"),
    [
        (Timer(offset=-1 * MSEC), "offset"),
        (Timer(period=-1 * MSEC), "period"),
        (LogicalAction(min_delay=-1 * MSEC), "min_delay"),
        (LogicalAction(min_spacing=-1 * MSEC), "min_spacing"),
        (PhysicalAction(min_delay=-1 * MSEC), "min_delay"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_negative_time_of_an_element(element: Any, parameter: str) -> None:
    main = type("Main", (Reactor,), {"element": element})
    assert names(faults_of(main), "Main.element", parameter, "negative")


class NegativeDelay(Reactor):
    def __init__(self):
        self.source, self.sink = Source(), Sink()
        connect(self.source.out, self.sink.inp, after=-1 * MSEC)


class NegativeDeadline(Reactor):
    @reaction(startup, deadline=-1 * MSEC)
    def act(self): ...


def test_negative_delay_and_deadline() -> None:
    assert names(faults_of(NegativeDelay), "NegativeDelay", "after", "negative")
    assert names(faults_of(NegativeDeadline), "NegativeDeadline.act", "deadline", "negative")


@pytest.mark.parametrize("width", [0, -1, 1.5, "three", True], ids=repr)
@pytest.mark.parametrize("kind", [Input, Output])
def test_width_of_a_port_must_be_a_positive_integer(kind: type, width: Any) -> None:
    main = type("Main", (Reactor,), {"ports": kind(width=width)})
    assert names(faults_of(main), "Main.ports", "width")


class ZeroByParameter(Reactor):
    out = Output[int](width=lambda n: n - 2)

    def __init__(self, n: int = 2): ...


class Containing(Reactor):
    def __init__(self):
        self.child = Bank(ZeroByParameter, 2)


def test_width_from_an_expression_is_checked_with_the_path_of_the_instance() -> None:
    assert names(faults_of(Containing), "Containing.child[0].out", "Containing.child[1].out", "width", "0")


class BadBank(Reactor):
    def __init__(self, width: Any):
        self.members = Bank(Sink, width)


@pytest.mark.parametrize("width", [0, -2, 2.5, "2"], ids=repr)
def test_width_of_a_bank_must_be_a_positive_integer(width: Any) -> None:
    assert names(faults_of(BadBank, width=width), "width", "Sink", repr(width))


def touching(**arguments: Any) -> type[Reactor]:
    """A reactor with a child and a grandchild, and one reaction that touches something."""
    triggers = arguments.pop("triggers", (startup,))

    class Main(Reactor):
        inp = Input[int]()
        out = Output[int]()
        tick = Timer()
        act = LogicalAction()
        one = Mode(initial=True)
        two = Mode()

        with one:
            inside = LogicalAction()

        def __init__(self):
            self.child = Stage()
            self.box = Box()

        @reaction(*triggers, **arguments)
        def touch(self, *elements): ...

    return Main


@pytest.mark.parametrize(
    ("arguments", "element"),
    [
        ({"triggers": ("nothing",)}, "nothing"),
        ({"uses": "nothing"}, "nothing"),
        ({"effects": "nothing"}, "nothing"),
        ({"triggers": ("child.nothing",)}, "child.nothing"),
        ({"triggers": ("nobody.out",)}, "nobody.out"),
        ({"triggers": ("child.inp",)}, "child.inp"),  # a child's input is written, not read
        ({"uses": "child.inp"}, "child.inp"),
        ({"effects": "child.out"}, "child.out"),  # a child's output is read, not written
        ({"effects": "inp"}, "inp"),
        ({"triggers": ("out",)}, "out"),
        ({"uses": "out"}, "out"),
        ({"effects": "tick"}, "tick"),
        ({"triggers": ("box.source.out",)}, "box.source.out"),  # not a grandchild's
        ({"effects": "child.step"}, "child.step"),
    ],
    ids=str,
)
def test_reaction_names_an_element_that_it_may_not_touch(arguments: dict[str, Any], element: str) -> None:
    assert names(faults_of(touching(**arguments)), "Main.touch", element)


class Other(Reactor):
    act = LogicalAction()
    out = Output[int]()
    tick = Timer()


@pytest.mark.parametrize("arguments", [{"effects": Other.act}, {"effects": Other.out}, {"uses": Other.out}], ids=str)
def test_reaction_names_an_element_of_another_class(arguments: dict[str, Any]) -> None:
    assert names(faults_of(touching(**arguments)), "Main.touch")


class ChildAction(Reactor):
    def __init__(self):
        self.other = Other()

    @reaction(startup, effects="other.act")
    def schedule(self, act): ...


class ChildTimer(Reactor):
    def __init__(self):
        self.other = Other()

    @reaction("other.tick")
    def listen(self, tick): ...


def test_actions_and_timers_of_another_reactor_are_out_of_reach() -> None:
    assert names(faults_of(ChildAction), "ChildAction.schedule", "other.act")
    assert names(faults_of(ChildTimer), "ChildTimer.listen", "other.tick")


class NoInitial(Reactor):
    one, two = Mode(), Mode()


class TwoInitial(Reactor):
    one, two = Mode(initial=True), Mode(initial=True)


def test_modal_reactor_has_exactly_one_initial_mode() -> None:
    assert names(faults_of(NoInitial), "NoInitial", "initial")
    assert names(faults_of(TwoInitial), "TwoInitial", "initial", "one", "two")


class InsideOther(Reactor):
    one, two = Mode(initial=True), Mode()

    with one:
        act = LogicalAction()

    with two:

        @reaction(startup, effects=act)
        def reach(self, act): ...


def test_reaction_of_one_mode_reaching_into_another() -> None:
    assert names(faults_of(InsideOther), "InsideOther.reach", "act")


class Everything(Reactor):
    out = Output[int](width=0)
    tick = Timer(offset=-1 * MSEC)

    def __init__(self):
        self.first, self.second = Stage(), Stage()
        self.left, self.right, self.sink = Source(), Source(), Sink()
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.first.inp)
        connect(self.left.out, self.sink.inp)
        connect(self.right.out, self.sink.inp)
        self.box = BadBox()

    @reaction("nothing")
    def touch(self, nothing): ...


class BadBox(Reactor):
    tick = Timer(period=-2 * MSEC)


def test_all_faults_are_reported_together() -> None:
    assert names(
        faults_of(Everything),
        *("Everything.out", "width"),
        *("Everything.tick", "offset"),
        *("Everything.box.tick", "period"),
        *("cycle", "Everything.first.step", "Everything.second.step"),
        *("Everything.sink.inp", "Everything.left.out", "Everything.right.out"),
        *("Everything.touch", "nothing"),
    )


class NotAPort(Reactor):
    def __init__(self, source: Any, target: Any):
        self.source, self.sink = Source(), Sink()
        connect(source or self.source.out, target or self.sink.inp)


@pytest.mark.parametrize("wrong", [7, "sink.inp", Sink], ids=repr)
def test_connecting_what_is_no_port(wrong: Any) -> None:
    with pytest.raises(ReactorError, match="port"):
        elaborate(NotAPort, source=wrong, target=None)
    with pytest.raises(ReactorError, match="port"):
        elaborate(NotAPort, source=None, target=wrong)


def test_interleaving_what_is_no_bank_of_ports() -> None:
    with pytest.raises(ReactorError):
        interleaved(7)


def test_main_must_be_a_reactor_class() -> None:
    for wrong in (int, 7, None, "Main"):
        with pytest.raises(ReactorError):
            elaborate(wrong)
        with pytest.raises(ReactorError):
            run(wrong)


def test_transitions_are_made_of_modes() -> None:
    for transition in (reset, history):
        with pytest.raises(ReactorError):
            elaborate(
                type("Main", (Reactor,), {"go": reaction(startup, effects=transition(7))(lambda self, two: None)})
            )


class Guarded(Reactor):
    inp = Input[int]()
    out = Output[int]()
    mode = Mode(initial=True)

    def __init__(self):
        with self.mode:
            connect(self.inp, self.out)


class ConnectionsOnly(Reactor):
    """A cycle without a single reaction."""

    def __init__(self):
        self.left, self.right = Guarded(), Guarded()
        connect(self.left.out, self.right.inp)
        connect(self.right.out, self.left.inp)


def test_cycle_of_connections_only_names_the_ports() -> None:
    message = faults_of(ConnectionsOnly)
    for side in ("left", "right"):
        assert names(
            message, f"    ConnectionsOnly.{side}.out takes the value of ConnectionsOnly.{side}.inp (connected at"
        )
    assert names(message, "test_static_errors.py")


class Dividing(Reactor):
    inp = Input[int](width=lambda n: 1 // n)
    tick = Timer(lambda n: 1 // n)

    def __init__(self, n: int):
        pass

    @reaction(tick, deadline=lambda n: 1 // n)
    def beat(self, tick): ...


class HoldsDividing(Reactor):
    def __init__(self):
        self.held = Dividing(0)


def test_an_expression_that_raises_is_named() -> None:
    fault = "the function raised ZeroDivisionError: "  # Pythons word the rest differently
    message = faults_of(HoldsDividing)
    assert names(
        message, "3 faults", *(f"HoldsDividing.held.{what}: {fault}" for what in ("inp: width", "tick: offset"))
    )
    assert names(message, f"HoldsDividing.held.beat: deadline: {fault}")


def test_an_expression_that_is_no_function_of_parameters() -> None:
    main = type("Main", (Reactor,), {"inp": Input(width=int)})
    assert names(faults_of(main), "Main.inp: width must be a value or a function of parameters, got <class 'int'>")


class Unstateable(Reactor):
    count = State(lambda n: n)


class HoldsUnstateable(Reactor):
    def __init__(self):
        self.held = Unstateable()


def test_an_initial_value_that_cannot_be_made_is_named() -> None:
    assert names(
        faults_of(HoldsUnstateable), "HoldsUnstateable.Unstateable.count: calling its initial value", "TypeError"
    )
    main = type("Main", (Reactor,), {"lock": State(threading.Lock())})
    assert names(faults_of(main), "Main.lock: copying its initial value raised TypeError")


WANTS, NAME = "takes ports of reactors, got", "name one of its ports,"
SELF = "write self.out, or that of a contained reactor"


class HasPorts(Reactor):
    def __init__(self, make: Callable[[Any], Any]):
        self.source, self.sink = Source(), Sink()
        make(self)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda main: connect(main.source.out, main.sink), f"connect() {WANTS} the reactor Sink: {NAME} inp, wide"),
        (lambda main: connect(Source.out, main.sink.inp), f"connect() {WANTS} the declaration <output out>: {SELF}"),
        (lambda main: connect(main.source.out, 7), f"connect() {WANTS} 7"),
        (lambda main: interleaved([main.source]), f"interleaved() {WANTS} the reactor Source: {NAME} out, wide"),
        (lambda main: Bank(main.source, 2), "Bank takes a reactor class, got a reactor: write Bank(Source, ...)"),
        (lambda main: Bank(7, 2), "Bank takes a reactor class, got 7"),
    ],
)
def test_what_is_no_port_and_no_class_is_told_with_its_place(make: Callable[[Any], Any], complaint: str) -> None:
    line = make.__code__.co_firstlineno
    assert faults_of(HasPorts, make=make) == f"{__file__}:{line}: in HasPorts, {complaint}"


def test_a_body_that_a_call_does_not_run_is_refused() -> None:
    def generator(self):
        yield

    async def coroutine(self): ...

    async def both(self):
        yield

    for body, what in ((generator, "contains yield"), (coroutine, "is async"), (both, "contains yield")):
        with pytest.raises(TypeError, match=f"@reaction decorates a plain method: .*{body.__name__} {what}"):
            reaction(startup)(body)
        with pytest.raises(TypeError, match=f"@go.missed decorates a plain method: .*{body.__name__} {what}"):
            reaction(startup, deadline=0)(_go).missed(body)


def _go(self): ...


_go.__name__ = "go"


def test_roles_are_elements_or_names() -> None:
    with pytest.raises(TypeError, match="effects= takes elements of the class or their names, got None"):
        reaction(startup, effects=None)(_go)
    with pytest.raises(TypeError, match="uses= takes elements of the class or their names, got 5"):
        reaction(startup, uses=5)(_go)


def test_a_name_is_declared_once() -> None:
    with pytest.raises(TypeError, match=r"Twice.go is assigned twice, and the reaction go would be lost"):

        class Twice(Reactor):
            @reaction(startup)
            def go(self): ...

            @reaction(startup)
            def go(self): ...  # noqa: F811  # what is refused

    with pytest.raises(TypeError, match=r"Both.tick is assigned twice, and the timer tick would be lost"):

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
    with pytest.raises(ElaborationError, match=r"Abstract.out overrides the output out"):
        elaborate(Abstract)

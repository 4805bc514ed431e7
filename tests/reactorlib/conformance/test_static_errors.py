"""Section "Static errors": each is found before the run starts and names the elements involved by their full paths."""

import pytest

from reactorlib import MSEC, LogicalAction, Mode, Output, Reactor, Timer, connect, startup
from tests.reactorlib.conformance.faulty import Sink, Source, faults_of, lacking, wired
from tests.reactorlib.conformance.reactors import Relay, noted

FAILING = " ".join(f"Main.expressions[0].{name}" for name in ("out", "inp", "tick", "beat"))


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
        ("expressions", f"8 width offset deadline ZeroDivisionError 1 more {FAILING}"),
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

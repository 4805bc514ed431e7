"""Errors of a running program. Each names the element, and none is a hang or a bare KeyError."""

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
    Timer,
    current_tag,
    elaborate,
    logical_time,
    reaction,
    request_stop,
    reset,
    run,
    shutdown,
    startup,
)
from reactorlib.errors import ReactionError, ReactorError
from tests.reactorlib.conformance.reactors import Pair, Source, noted

pytestmark = pytest.mark.usefixtures("path")


def failure(main: Any, **parameters: Any) -> ReactionError:
    with pytest.raises(ReactionError) as caught:
        run(main, fast=True, timeout=5 * MSEC, **parameters)
    return caught.value


class Child(Reactor):
    inp = Input[int]()
    act = LogicalAction[int]()


class Reaching(Reactor):
    """Its second reaction, at microstep 1, reaches for what it has not declared."""

    inp, out, wide = Input[int](), Output[int](), Output[int](width=2)
    act = LogicalAction()
    tick = Timer(0)
    one, two = Mode(initial=True), Mode()

    def __init__(self, reach: Any):
        self.reach = reach
        self.child = Child()

    @reaction(startup, effects=[out, wide, act, reset(two)])
    def begin(self, out, wide, act, two):
        out.set(1)
        act.schedule()

    @reaction(act, uses=[inp, tick])
    def misuse(self, act, inp, tick):
        self.reach(self, act, inp)


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        pytest.param(lambda self, act, inp: inp.set(1), "Reaching.inp misuse", id="sets what it uses"),
        pytest.param(lambda self, act, inp: act.schedule(), "Reaching.act misuse", id="schedules its trigger"),
        pytest.param(lambda self, act, inp: self.out.set(1), "", id="own port"),
        pytest.param(lambda self, act, inp: self.act.schedule(value=1), "", id="own action"),
        pytest.param(lambda self, act, inp: self.child.act.schedule(value=1), "", id="action of another"),
        pytest.param(lambda self, act, inp: self.child.inp.set(1), "", id="port of another"),
        pytest.param(lambda self, act, inp: self.two.set(), "", id="mode"),
        pytest.param(lambda self, act, inp: self.out.value, "Reaching.out 'value'", id="value"),
        pytest.param(lambda self, act, inp: self.out.is_present, "Reaching.out 'is_present'", id="presence"),
        pytest.param(lambda self, act, inp: self.tick.is_present, "Reaching.tick 'is_present'", id="timer"),
    ],
)
def test_reaching_around_the_declarations_names_the_reaction_and_the_element(reach: Any, words: str) -> None:
    error = failure(Reaching, reach=reach)
    assert (error.reactor, error.reaction, tuple(error.tag)) == ("Reaching", "misuse", (0, 1))
    assert isinstance(error.__cause__, ReactorError | AttributeError)
    assert [word for word in words.split() if word not in str(error)] == []


def test_an_element_has_no_value_for_hasattr_either() -> None:
    assert not hasattr(elaborate(Reaching, reach=None).root.reactor.out, "value")


class Ticking(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    beat = noted(tick)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"timeout": -1 * MSEC}, "timeout"),
        ({"executor": "cluster"}, "inline"),
        ({"executor": "threads", "workers": 0}, "workers"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_options_of_run_are_checked(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ReactorError, match=word):
        run(Ticking, **{"timeout": 1 * MSEC, "fast": True, **options})


@pytest.mark.parametrize(
    ("do", "kind"),
    [
        pytest.param(lambda out: run(Ticking, timeout=-1 * MSEC, fast=True), ReactorError, id="a run within a run"),
        pytest.param(lambda out: out[2].set(1), IndexError, id="a channel that does not exist"),
    ],
)
def test_an_error_names_its_reaction_and_a_run_works_again_after_it(do: Any, kind: type) -> None:
    class Doing(Reactor):
        out = Output[int](width=2)

        def __init__(self, do: Any):
            self.do = do

        @reaction(startup, effects=out)
        def begin(self, out):
            self.do(out)

    error = failure(Doing, do=do)
    assert isinstance(error.__cause__, kind)
    assert (error.reactor, error.reaction) == ("Doing", "begin")
    assert run(Ticking, timeout=1 * MSEC, fast=True).tag == (1 * MSEC, 0)


class Left(Reactor):
    hand_tick = Timer(0, 2 * MSEC)

    @reaction(hand_tick)
    def hand_move(self, hand_tick):
        if current_tag().time:
            raise ValueError("stuck")


class LeftHand(Reactor):
    tick = Timer(1 * MSEC, 2 * MSEC)

    @reaction(tick)
    def move(self, tick):
        """Its schedule has the same code as that of Left, compiled in between the two ticks of Left."""


class Arms(Reactor):
    """The paths left.hand_move and left_hand.move make one name in the source of a schedule."""

    def __init__(self):
        self.left, self.left_hand = Left(), LeftHand()


def test_an_error_names_its_reaction_although_another_schedule_has_equal_code() -> None:
    error = failure(Arms)
    assert (error.reactor, error.reaction, error.tag) == ("Arms.left", "hand_move", (2 * MSEC, 0))


class Broken(Reactor):
    def __init__(self, message: str):
        raise ZeroDivisionError(message)


@pytest.mark.parametrize("start", [elaborate, run], ids=["elaborate", "run"])
def test_constructor_that_raises_names_its_class_and_keeps_the_cause(start: Any) -> None:
    class Building(Reactor):
        def __init__(self):
            self.fine = Ticking()
            self.broken = Broken("in the constructor")

    with pytest.raises(ReactorError, match="Broken") as caught:
        start(Building)
    assert "in the constructor" in str(caught.value)
    cause: BaseException | None = caught.value
    while cause is not None and not isinstance(cause, ZeroDivisionError):
        cause = cause.__cause__
    assert isinstance(cause, ZeroDivisionError)


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(ReactorError, match="message"):
        elaborate(Broken)


@pytest.mark.parametrize("function", [request_stop, current_tag, logical_time], ids=lambda each: each.__name__)
def test_functions_of_a_running_program_need_one(function: Any) -> None:
    with pytest.raises(ReactorError, match="running"):
        function()


class Uncopyable:
    def __deepcopy__(self, memo: object) -> object:
        raise TypeError("not to be copied")


class Changing(Reactor):
    inp = Input[Any](width="width", mutable=True)
    change = noted(inp)

    def __init__(self, width: int = 1): ...


def test_value_of_a_mutable_input_that_cannot_be_copied() -> None:
    error = failure(Pair, source=lambda: Source(Uncopyable()), reader=Changing)
    assert error.reactor == "Pair.reader"
    assert "not to be copied" in str(error)


@pytest.mark.parametrize("options", [{}, {"executor": "threads", "workers": 2}], ids=["inline", "threads"])
def test_a_late_failure_to_copy_names_the_input_and_spares_the_senders(options: Any) -> None:
    class LateSender(Source):
        """Sends what cannot be copied at its seventh tick, if it is the fourth of its bank."""

        def __init__(self, ended: list[int], period: int = 1 * MSEC):
            super().__init__(*range(6), Uncopyable() if self.bank_index == 3 else 6, 7, 8)
            self.ended = ended

        @reaction(shutdown)
        def end(self):
            self.ended.append(self.bank_index)

    ended: list[int] = []
    ends = {"source": lambda: Bank(LateSender, 40, ended), "reader": lambda: Changing(40)}
    with pytest.raises(ReactionError, match="not to be copied") as caught:
        run(Pair, **ends, fast=True, timeout=9 * MSEC, **options)
    assert (caught.value.reactor, caught.value.reaction) == ("Pair.reader", "inp[3]")
    assert tuple(caught.value.tag) == (6 * MSEC, 0)
    assert sorted(ended) == list(range(40))

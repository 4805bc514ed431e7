"""Errors of a running program: one that names the element, never a hang, never a bare KeyError."""

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
    ReactionError,
    Reactor,
    ReactorError,
    Timer,
    connect,
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

pytestmark = pytest.mark.usefixtures("path")


def failure(main: Any, **parameters: Any) -> ReactionError:
    with pytest.raises(ReactionError) as caught:
        run(main, fast=True, timeout=5 * MSEC, **parameters)
    return caught.value


class Undeclared(Reactor):
    inp = Input[int]()
    out = Output[int]()
    wide = Output[int](width=2)
    act = LogicalAction()

    def __init__(self, fault: str = ""):
        self.fault = fault
        self.kept: Any = None

    @reaction(startup, effects=[out, wide, act])
    def begin(self, out, wide, act):
        self.kept = {"out": out, "wide": wide[1], "act": act}
        out.set(1)
        act.schedule()

    @reaction(act, uses=inp)
    def misuse(self, act, inp):
        if self.fault == "use":
            inp.set(1)
        elif self.fault == "trigger":
            act.schedule()
        elif self.fault == "act":
            self.kept["act"].schedule()
        else:
            self.kept[self.fault].set(2)


@pytest.mark.parametrize(
    ("fault", "element"),
    [("use", "Undeclared.inp"), ("trigger", "Undeclared.act")],
)
def test_effect_that_was_not_declared_names_reaction_and_element(fault: str, element: str) -> None:
    error = failure(Undeclared, fault=fault)
    assert (error.reactor, error.reaction) == ("Undeclared", "misuse")
    assert tuple(error.tag) == (0, 1)
    assert isinstance(error.__cause__, ReactorError)
    assert element in str(error)
    assert "misuse" in str(error)


class Child(Reactor):
    inp = Input[int]()
    act = LogicalAction[int]()


class Reaching(Reactor):
    """Goes around the declarations: to elements of the class, to a child's action, to a child's port."""

    out = Output[int]()
    act = LogicalAction()

    def __init__(self, reach: Any):
        self.reach = reach
        self.child = Child()

    @reaction(startup)
    def begin(self):
        self.reach(self)


@pytest.mark.parametrize(
    "reach",
    [
        lambda self: self.out.set(1),
        lambda self: self.act.schedule(value=1),
        lambda self: self.child.act.schedule(value=1),
        lambda self: self.child.inp.set(1),
    ],
    ids=["own port", "own action", "action of another reactor", "port of another reactor"],
)
def test_reaching_around_the_declarations_is_an_error(reach: Any) -> None:
    error = failure(Reaching, reach=reach)
    assert (error.reactor, error.reaction) == ("Reaching", "begin")


class NegativeExtra(Reactor):
    act = LogicalAction()

    @reaction(startup, effects=act)
    def begin(self, act):
        act.schedule(-1 * MSEC)


def test_negative_extra_delay() -> None:
    error = failure(NegativeExtra)
    assert (error.reactor, error.reaction) == ("NegativeExtra", "begin")
    assert "negative" in str(error)


class Ticking(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)

    @reaction(tick)
    def beat(self, tick): ...


@pytest.mark.parametrize("timeout", [-1 * MSEC, "soon", 0.5], ids=repr)
def test_timeout_must_be_a_time(timeout: Any) -> None:
    with pytest.raises(ReactorError, match="timeout"):
        run(Ticking, timeout=timeout, fast=True)


class Nesting(Reactor):
    @reaction(startup)
    def begin(self):
        run(Ticking, timeout=1 * MSEC, fast=True)


def test_run_inside_a_reaction() -> None:
    error = failure(Nesting)
    assert isinstance(error.__cause__, ReactorError)
    assert (error.reactor, error.reaction) == ("Nesting", "begin")


def test_run_works_again_after_an_error() -> None:
    failure(Nesting)
    assert run(Ticking, timeout=1 * MSEC, fast=True).tag == (1 * MSEC, 0)


class Broken(Reactor):
    def __init__(self, message: str):
        raise ZeroDivisionError(message)


class Building(Reactor):
    def __init__(self):
        self.fine = Ticking()
        self.broken = Broken("in the constructor")


@pytest.mark.parametrize("start", [elaborate, run], ids=["elaborate", "run"])
def test_constructor_that_raises_names_its_class_and_keeps_the_cause(start: Any) -> None:
    with pytest.raises(ReactorError, match="Broken") as caught:
        start(Building)
    assert "in the constructor" in str(caught.value)
    cause: BaseException | None = caught.value
    while cause is not None and not isinstance(cause, ZeroDivisionError):
        cause = cause.__cause__
    assert isinstance(cause, ZeroDivisionError)


def test_missing_and_unknown_parameters_are_named() -> None:
    with pytest.raises(ReactorError, match="message"):
        elaborate(Broken)
    with pytest.raises(ReactorError, match="colour"):
        elaborate(Ticking, colour="red")


@pytest.mark.parametrize("function", [request_stop, current_tag, logical_time], ids=lambda each: each.__name__)
def test_functions_of_a_running_program_need_one(function: Any) -> None:
    with pytest.raises(ReactorError, match="running"):
        function()


def test_unknown_executor_and_workers() -> None:
    with pytest.raises(ReactorError, match="inline"):
        run(Ticking, timeout=1 * MSEC, fast=True, executor="cluster")
    with pytest.raises(ReactorError, match="workers"):
        run(Ticking, timeout=1 * MSEC, fast=True, executor="threads", workers=0)


class Uncopyable:
    def __deepcopy__(self, memo: object) -> object:
        raise TypeError("not to be copied")


class Sending(Reactor):
    out = Output[Uncopyable]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(Uncopyable())


class Changing(Reactor):
    inp = Input[Uncopyable](mutable=True)

    @reaction(inp)
    def change(self, inp):
        _ = inp.value


class Copying(Reactor):
    def __init__(self):
        self.source, self.reader = Sending(), Changing()
        connect(self.source.out, self.reader.inp)


def test_value_of_a_mutable_input_that_cannot_be_copied() -> None:
    error = failure(Copying)
    assert error.reactor == "Copying.reader"
    assert "not to be copied" in str(error)


class LateSender(Reactor):
    """Sends what cannot be copied at its seventh tick, if it is the fourth of its bank."""

    tick = Timer(0, 1 * MSEC)
    out = Output[Any]()

    def __init__(self, ended: list[int]):
        self.ended = ended
        self.ticks = 0

    @reaction(tick, effects=out)
    def send(self, tick, out):
        out.set(Uncopyable() if self.bank_index == 3 and self.ticks == 6 else self.ticks)
        self.ticks += 1

    @reaction(shutdown)
    def end(self):
        self.ended.append(self.bank_index)


class WideChanging(Reactor):
    inp = Input[Any](width=40, mutable=True)

    @reaction(inp)
    def change(self, inp): ...


class CopyingMany(Reactor):
    def __init__(self, ended: list[int]):
        self.senders, self.reader = Bank(LateSender, 40, ended), WideChanging()
        connect(self.senders.out, self.reader.inp)


@pytest.mark.parametrize("options", [{}, {"executor": "threads", "workers": 2}], ids=["inline", "threads"])
def test_a_late_failure_to_copy_names_the_input_and_spares_the_senders(options: Any) -> None:
    ended: list[int] = []
    with pytest.raises(ReactionError, match="not to be copied") as caught:
        run(CopyingMany, ended=ended, fast=True, timeout=9 * MSEC, **options)
    assert (caught.value.reactor, caught.value.reaction) == ("CopyingMany.reader", "inp[3]")
    assert tuple(caught.value.tag) == (6 * MSEC, 0)
    assert sorted(ended) == list(range(40))


class WrongChannel(Reactor):
    out = Output[int](width=2)

    @reaction(startup, effects=out)
    def begin(self, out):
        out[2].set(1)


def test_channel_that_does_not_exist() -> None:
    error = failure(WrongChannel)
    assert isinstance(error.__cause__, IndexError)
    assert (error.reactor, error.reaction) == ("WrongChannel", "begin")


class NoSwitch(Reactor):
    one, two = Mode(initial=True), Mode()
    act = LogicalAction()

    @reaction(startup, effects=[reset(two), act])
    def begin(self, two, act):
        self.kept = two
        act.schedule()

    @reaction(act)
    def misuse(self, act):
        self.two.set()


def test_switching_without_declaring_it_is_an_error() -> None:
    error = failure(NoSwitch)
    assert (error.reactor, error.reaction) == ("NoSwitch", "misuse")


class ReadsSelf(Reactor):
    out = Output[int]()
    tick = Timer(0)

    def __init__(self, what: str):
        self.what = what

    @reaction(tick, effects=out)
    def begin(self, tick, out):
        out.set(1)
        name, _, what = self.what.partition(".")
        getattr(getattr(self, name), what)


@pytest.mark.parametrize("what", ["out.value", "out.is_present", "tick.is_present"])
def test_values_are_read_from_the_arguments_and_not_from_self(what: str) -> None:
    assert f"ReadsSelf.{what}: self.{what.partition('.')[0]} has no value" in str(failure(ReadsSelf, what=what))


def test_who_asks_whether_there_is_a_value_is_told_that_there_is_none() -> None:
    assert not hasattr(elaborate(Undeclared).root.reactor.out, "value")


class SchedulesNothing(Reactor):
    act = LogicalAction[str]()
    wait = PhysicalAction[str]()

    def __init__(self, delay: Any, physical: bool):
        self.delay = delay
        self.physical = physical

    @reaction(startup, effects=[act, wait])
    def begin(self, act, wait):
        (wait if self.physical else act).schedule(self.delay)


@pytest.mark.parametrize("physical", [False, True])
@pytest.mark.parametrize("delay", [None, ""], ids=repr)
def test_a_delay_that_is_none_is_told(delay: Any, physical: bool) -> None:
    name = "wait" if physical else "act"
    fault = f"SchedulesNothing.{name}.schedule(): extra_delay must be a time such as 5 * MSEC, got {delay!r}"
    assert fault in str(failure(SchedulesNothing, delay=delay, physical=physical))

"""The needs of a front end that makes reactor classes from another language, such as positions of its own."""

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
    State,
    Timer,
    connect,
    elaborate,
    reaction,
    request_stop,
    startup,
    where,
)
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute


def made(name: str, **namespace: Any) -> type[Reactor]:
    """A class as a front end makes it."""
    return type(name, (Reactor,), namespace)


def lying(position: str, make: Callable[[], Any]) -> Any:
    with where(position):
        return make()


def faults_of(main: type[Reactor], **parameters: Any) -> tuple[str, ...]:
    try:
        elaborate(main, **parameters)
    except ElaborationError as error:
        return error.faults
    return ()


class Leaf(Reactor):
    inp, out = Input[int](), Output[int]()

    def __init__(self, size: int = 1):
        self.size = size


@pytest.mark.parametrize(
    "make",
    [
        lambda: Input(width=0),
        lambda: Output(width="nope"),
        lambda: Output(width=lambda nope: 1),
        lambda: Output(width=lambda: 1 // 0),
        lambda: Timer(period=5),
        lambda: Timer(offset="nope"),
        lambda: LogicalAction(min_delay=-5 * MSEC),
        lambda: LogicalAction(min_spacing=3),
        lambda: LogicalAction(policy="nope"),  # type: ignore[arg-type]
        lambda: State(lambda: 1 // 0),
        Mode,  # none is initial
        lambda: reaction()(lambda self: None),
        lambda: noted("nope"),
        lambda: noted(startup, effects="nope"),
        lambda: reaction(startup)(lambda self, unexpected: None),
        lambda: noted(startup, deadline=5),
    ],
)
def test_a_fault_of_what_a_class_declares_names_the_position_that_was_given(make: Callable[[], Any]) -> None:
    (fault,) = faults_of(made("Main", it=lying("Main.lf:7:3", make)))
    assert "Main" in fault
    assert fault.endswith("(Main.lf:7:3)")
    assert ".py" not in fault


@pytest.mark.parametrize(
    "make",
    [
        lambda main: connect(main.leaf.inp, main.leaf.out),
        lambda main: connect(main.leaf.out, main.leaves),
        lambda main: connect(main.leaf.out, main.leaf.inp, after=5),
        lambda main: connect(main.leaves.out, main.leaf.inp),
        lambda main: Bank(Leaf, 0),
        lambda main: Bank("Leaf", 1),
        lambda main: Bank(Leaf, 1, nope=1),
        lambda main: Leaf(nope=1),
        lambda main: made("Plain")(3),
        lambda main: Leaf(),
    ],
)
def test_a_fault_of_what_a_constructor_makes_names_the_position_that_was_given(make: Callable[[Any], Any]) -> None:
    def construct(self: Any) -> None:
        self.leaf, self.leaves = Leaf(), Bank(Leaf, 2)
        with where("Main.lf:9"):
            make(self)

    fault = "\n".join(faults_of(made("Main", __init__=construct)))
    assert "Main.lf:9" in fault
    assert ".py" not in fault


def test_two_sources_are_told_with_both_positions() -> None:
    def construct(self: Any) -> None:
        self.one, self.two = Leaf(), Leaf()
        for line, leaf in ((3, self.one), (4, self.two)):
            with where(f"Main.lf:{line}"):
                connect(leaf.out, self.out)

    writes = lying("Main.lf:8", lambda: noted(startup, effects="out"))
    faults = "\n".join(faults_of(made("Main", out=Output(), __init__=construct, writes=writes)))
    assert all(f"Main.lf:{line}" in faults for line in (3, 4, 8))


def test_a_cycle_is_told_with_the_positions_of_reactions_and_connections() -> None:
    step = lying("Main.lf:2", lambda: noted("inp", effects="out"))
    stage = made("Stage", inp=Input(), out=Output(), step=step)

    def construct(self: Any) -> None:
        self.stage = stage()
        with where("Main.lf:6:5"):
            connect(self.stage.out, self.stage.inp)

    (fault,) = faults_of(made("Main", __init__=construct))
    assert "Main.lf:2" in fault
    assert "Main.lf:6:5" in fault
    assert ".py" not in fault


def test_a_position_is_that_of_its_block_alone() -> None:
    """A constructor that runs in the block and the lines after it have positions of their own."""
    inner = Output(width=0)

    def construct(self: Any) -> None:
        self.leaves = Bank(Leaf, 0)

    def around(self: Any) -> None:
        with where("Main.lf:1"):
            self.inner = made("Inner", out=inner, __init__=construct)()
            self.leaves = Bank(Leaf, -1)
        with pytest.raises(KeyError), where("Main.lf:2"):
            raise KeyError
        self.more = Bank(Leaf, -2)

    faults = faults_of(made("Main", __init__=around))
    assert [".lf" in fault for fault in faults] == [True, False, False, False]
    assert "-1" in faults[0]
    assert all(fault.count("test_front_end.py:") == 1 for fault in faults[1:])


@pytest.mark.parametrize(("sources", "targets", "fits"), [(2, 2, True), (1, 2, False), (2, 4, False), (3, 4, False)])
def test_a_connection_that_does_not_repeat_joins_sides_of_one_width(sources: int, targets: int, fits: bool) -> None:
    def construct(self: Any, repeat: bool) -> None:
        self.sources, self.targets = Bank(Leaf, sources), Bank(Leaf, targets)
        connect(self.sources.out, self.targets.inp, repeat=repeat)

    main = made("Main", __init__=construct)
    assert bool(faults_of(main, repeat=True)) == bool(targets % sources)
    faults = faults_of(main, repeat=False)
    assert len(faults) == (not fits)
    for fault in faults:
        assert "test_front_end.py:" in fault
        assert "Main.sources[0].out" in fault
        assert f"width {sources}" in fault
        assert "repeat to it" not in fault


class InMs:
    """An action whose delays are numbers of milliseconds."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def schedule(self, ms: int, value: int) -> None:
        self.handle.schedule(ms * MSEC, value)


class LogicalInMs(LogicalAction[int]):
    def argument(self, handle: Any) -> InMs:
        return InMs(handle)


class PhysicalInMs(PhysicalAction[int]):
    def argument(self, handle: Any) -> InMs:
        return InMs(handle)


@pytest.mark.parametrize("action", [LogicalInMs, PhysicalInMs])
def test_an_action_says_what_a_reaction_that_schedules_it_is_given(action: Any, execute: Execute) -> None:
    class Later(Reactor):
        wait = action()
        end = Output[int]()

        @reaction(startup, effects=wait)
        def begin(self, wait: InMs) -> None:
            wait.schedule(3, 7)

        @reaction(wait, effects=end)
        def read(self, wait: Any, end: Output[int]) -> None:
            end.set(wait.value)
            request_stop()

    result = execute(Later)
    assert [value for record in result.trace for _, value in record.writes] == [7]
    assert result.tag.time >= 3 * MSEC

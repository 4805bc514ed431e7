"""A program whose timers meet in thousands of ways: few of the sets of events get a schedule of their own."""

from typing import Any

import pytest

from reactorlib import (
    ABSENT,
    USEC,
    Bank,
    Input,
    Output,
    Reactor,
    Session,
    Timer,
    connect,
    elaborate,
    per_member,
    reaction,
    run,
)
from reactorlib.execution import Execution
from reactorlib.executors.set_schedules import FEW_SETS
from reactorlib.worker.loader import Loader
from reactorlib.worker.options import Options
from tests.reactorlib.conformance.reactors import Sink

PERIODS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
END = 2_000 * USEC


class Clock(Reactor):
    tick, out = Timer(0, "period"), Output[int]()

    def __init__(self, period: int) -> None:
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick: Any, out: Any) -> None:
        self.count += 1
        out.set(self.count)


class Clocks(Reactor):
    def __init__(self) -> None:
        self.clocks = Bank(Clock, len(PERIODS), per_member(lambda index: PERIODS[index] * USEC))
        self.sinks = Bank(Sink, len(PERIODS))
        connect(self.clocks.out, self.sinks.inp)


SCATTERED = {f"Clocks.sinks[{index}]": (index + 1) % 2 for index in range(len(PERIODS))} | {
    f"Clocks.clocks[{index}]": index % 2 for index in range(len(PERIODS))
}


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_few_of_many_sets_of_events_are_compiled(executor: Any) -> None:
    alone = run(Clocks, fast=True, timeout=END, trace=True)
    program = elaborate(Clocks)
    options = Options(executor=executor, workers=2, placement=SCATTERED, fast=True, timeout=END, trace=True)
    execution = Execution(program, options)
    loaded: list[str] = []
    load = execution.executor.loader.load
    execution.executor.loader.load = lambda plan, *rest, **named: loaded.append("") or load(plan, *rest, **named)  # type: ignore[method-assign]

    def whole() -> bool:
        execution.begin()
        return execution.coordinator.run(execution.executor)

    execution.guarded(whole)
    sets = {record.tag for record in alone.trace or ()}
    assert len(sets) > 5 * FEW_SETS
    assert FEW_SETS < len(loaded) < 2 * FEW_SETS
    assert execution.result().digest == alone.digest


class Doubled(Reactor):
    inp, out = Input[int](), Output[int]()

    @reaction(inp, effects=out)
    def double(self, inp: Any, out: Any) -> None:
        out.set(2 * inp.value)


class Lines(Reactor):
    inp, out = Input[int](width=10), Output[int](width=10)

    def __init__(self) -> None:
        self.parts = Bank(Doubled, 10)
        connect(self.inp, self.parts.inp)
        connect(self.parts.out, self.out)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_few_of_many_sets_of_inputs_of_a_session_are_compiled(executor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = Loader.load
    monkeypatch.setattr(
        Loader, "load", lambda self, plan, *rest, **named: loaded.append("") or load(self, plan, *rest, **named)
    )
    with Session(Lines, executor=executor, workers=2) as session:
        step = session.stepper(("inp",), ("out",))
        for number in range(1, 6 * FEW_SETS):
            given = [line if number >> line & 1 else ABSENT for line in range(10)]
            step.begin(given)
            assert step.finish(20) == [value if value is ABSENT else 2 * value for value in given]
    assert FEW_SETS <= len(loaded) < 2 * FEW_SETS * (2 if executor == "threads" else 1)  # threads: both workers' parts

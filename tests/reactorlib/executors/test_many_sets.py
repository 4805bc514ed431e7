"""A program whose timers meet in thousands of ways: few of the sets of events get a schedule of their own."""

from typing import Any

import pytest

from reactorlib import USEC, Bank, Output, Reactor, Timer, connect, elaborate, per_member, reaction, run
from reactorlib.execution import Execution
from reactorlib.executors.distributed import FEW_SETS
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

"""Physical time on parallel executors: waiting, deadlines, physical actions and connections, and dying while idle."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import partial
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    SEC,
    Bank,
    Input,
    Output,
    PhysicalAction,
    Reactor,
    Timer,
    WorkerError,
    connect,
    current_tag,
    logical_elapsed,
    physical_elapsed,
    physical_time,
    reaction,
    request_stop,
    run,
    startup,
)
from reactorlib.transport import waiting
from tests.reactorlib.conformance.reactors import Members, Pair, Relay, Sink, Source
from tests.reactorlib.conformance.reactors import noted as noted_reaction
from tests.reactorlib.conformance.test_physical_actions import LIMIT, Listener, flood
from tests.reactorlib.executors.programs import note, noted
from tests.reactorlib.observing import values, written


class Clocked(Reactor):
    """Ticks, and says when in logical and in physical time; then sends both on."""

    tick = Timer(0, 5 * MSEC)
    out = Output[tuple[int, int]]()

    @reaction(tick, effects=out)
    def beat(self, tick, out) -> None:
        out.set((logical_elapsed(), physical_time()))


def check(times: tuple[int, int]) -> tuple[bool, bool, bool]:
    logical, physical = times
    return logical == logical_elapsed(), physical <= physical_time(), physical_elapsed() >= logical


@pytest.mark.parametrize("mover", ["source", "reader"])
def test_all_workers_read_one_physical_clock_which_is_never_before_logical_time(executor, mover):
    ends = {"source": lambda: Bank(Clocked, 3), "reader": lambda: Bank(Sink, 3, check)}
    placement = {f"Pair.{mover}[{i}]": (i + 1) % 3 for i in range(3)}
    began = time.monotonic()
    result = run(Pair, **ends, timeout=60 * MSEC, trace=True, executor=executor, workers=3, placement=placement)
    assert time.monotonic() - began >= 0.06
    assert result.tag == (60 * MSEC, 0)
    assert [values(result, f"Pair.reader[{i}].seen") for i in range(3)] == [[(True, True, True)] * 13] * 3


def test_starting_processes_costs_no_deadline():
    class Punctual(Reactor):
        said = Output[str]()

        @reaction(startup, effects=said, deadline=500 * MSEC)
        def begin(self, said) -> None:
            said.set("kept")

        @begin.missed
        def late(self, said) -> None:
            said.set("missed")

    result = run(Members, kind=Punctual, count=8, trace=True, executor="processes", workers=8)
    assert [value for record in result.trace for _, value in record.writes] == ["kept"] * 8


class Count(Reactor):
    """Asks the run to stop once all have come; the last of a bank does it."""

    inp = Input[tuple[int, int]]()
    seen = Output[tuple[int, int]]()

    def __init__(self, each: int, stops: int) -> None:
        self.left = 2 * each
        self.stops = self.bank_index == stops

    @reaction(inp, effects=seen)
    def take(self, inp, seen) -> None:
        seen.set(inp.value)
        self.left -= 1
        if not self.left and self.stops:
            request_stop()


class Physical(Reactor):
    """Takes physical events from two threads and passes them to a bank."""

    def __init__(self, each: int = 100) -> None:
        self.listener = Listener(partial(flood, senders=2, each=each), expected=0)
        self.count = Bank(Count, 3, each, 2)
        connect(self.listener.seen, self.count.inp)


@pytest.mark.parametrize("fast", [False, True])
def test_physical_events_reach_other_workers_none_lost_and_in_order(executor, fast):
    result = run(Physical, timeout=LIMIT, fast=fast, trace=True, executor=executor, workers=3,
                 placement={"Physical.listener": 1})  # fmt: skip  # stays on worker 0 all the same
    for member in range(3):
        seen = values(result, f"Physical.count[{member}].seen")
        for sender in (0, 1):
            assert [number for who, number in seen if who == sender] == list(range(100))


@pytest.mark.parametrize("mover", ["source", "reader"])
def test_a_physical_connection_between_workers(executor, mover):
    parts = {"source": partial(Source, *range(20)), "physical": True, "after": 2 * MSEC,
             "reader": partial(Sink, lambda value: (value, current_tag().time <= physical_elapsed()))}  # fmt: skip
    result = run(Pair, **parts, timeout=LIMIT, trace=True, executor=executor, workers=2, placement={f"Pair.{mover}": 1})
    seen = written(result, "Pair.reader.seen")
    assert [value for *_, value in seen] == [(number, True) for number in range(20)]
    sent = [at for at, *_ in written(result, "Pair.source.out")]
    assert all(at >= sent[number] + 2 * MSEC for at, _, (number, _) in seen)


class Idle(Reactor):
    """Tells its process, then waits for what never comes."""

    never = Input[Any]()

    def __init__(self, log: str) -> None:
        self.log = log

    @reaction(startup)
    def begin(self) -> None:
        note(self.log, f"pid {os.getpid()}")

    take = noted_reaction(never)


class Sleepy(Reactor):
    event = PhysicalAction[int]()
    far = Timer(100 * SEC)

    def __init__(self, log: str) -> None:
        self.idle = Idle(log)
        self.log = log

    later, arrive = noted_reaction(far), noted_reaction(event)

    @reaction(startup, effects=event)
    def begin(self, event) -> None:
        """Kills the worker once the run waits for physical time, or just before: it makes no difference."""
        threading.Thread(target=self._kill).start()

    def _kill(self) -> None:
        while not noted(self.log):
            time.sleep(0.01)
        os.kill(int(noted(self.log)[0].split()[1]), signal.SIGKILL)


class Killer(Reactor):
    """Goes round with a partner as fast as it can, and kills the worker that has nothing to do."""

    reply = Input[int]()
    request = Output[int]()

    def __init__(self, log: str) -> None:
        self.log = log

    @reaction(startup, effects=request)
    def begin(self, request) -> None:
        request.set(0)

    @reaction(reply, effects=request)
    def take(self, reply, request) -> None:
        if reply.value == 100:
            os.kill(int(noted(self.log)[0].split()[1]), signal.SIGKILL)
        request.set(reply.value + 1)


class Busy(Reactor):
    def __init__(self, log: str) -> None:
        self.killer = Killer(log)
        self.partner = Relay(quiet=True)
        self.idle = Idle(log)
        connect(self.killer.request, self.partner.inp, after=0)
        connect(self.partner.out, self.killer.reply)


def test_a_worker_that_dies_while_others_are_busy_is_noticed(log, soon, monkeypatch):
    monkeypatch.setattr(waiting, "LONGEST_SLEEP_MS", waiting.FIRST_SLEEP_MS)  # no wait is so long that it looks
    placement = {"Busy.partner": 1, "Busy.idle": 2}
    with soon(), pytest.raises(WorkerError, match=r"with Busy.idle\) was killed by SIGKILL"):
        run(Busy, log=log, fast=True, executor="processes", workers=3, placement=placement)


def test_a_worker_that_dies_while_the_run_waits_is_noticed(log, soon):
    with soon(), pytest.raises(WorkerError, match=r"with Sleepy.idle\) was killed by SIGKILL"):
        run(Sleepy, log=log, timeout=LIMIT, executor="processes", workers=2, placement={"Sleepy.idle": 1})

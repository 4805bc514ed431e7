"""Each invariant that REACTORLIB_DEBUG=1 asserts: a test breaks it, and sees the AssertionError."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib import Input, Output, Reactor, connect, elaborate, reaction, run, startup
from reactorlib.executors.split_check import check_split
from reactorlib.schedule.compiler import Compiler
from reactorlib.schedule.partition import partition
from reactorlib.schedule.plan import NodeCall, Plan, Send, Wait, plan_of
from reactorlib.schedule.split import Splitter
from reactorlib.transport.arena import Arena
from reactorlib.transport.channel import NUMBER, SLOTS, MessageChannel
from reactorlib.transport.debug import DEBUG
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.transport.memory import PAGE
from reactorlib.transport.waiting import STATE_WORDS
from reactorlib.worker.event_queue import Queue
from tests.reactorlib.test_event_queue import events_named

pytestmark = pytest.mark.skipif(not DEBUG, reason="needs REACTORLIB_DEBUG=1, as tests/conftest.py sets it")


@pytest.fixture
def end() -> Any:
    exchange = Exchange(2, capacity=64 << 20)
    yield Endpoint(exchange, 0, lambda: None)
    exchange.close()


# Blocks of shared memory


def _lend_twice(arena: Arena) -> None:
    block = arena.take(PAGE)
    arena.commit([block], [1])
    arena._busy[block.room].remove(block)
    arena._free[block.room].append(block)


def _overlap(arena: Arena) -> None:
    arena.take(PAGE)
    arena._top -= PAGE


def _lose(arena: Arena) -> None:
    arena._busy[arena.take(2 * PAGE).room].clear()


def _miscount(arena: Arena) -> None:
    arena.taken[0] += 1


def _release_twice(arena: Arena) -> None:
    block = arena.take(PAGE)
    arena.commit([block], [1])
    arena.releases[block.first + 1] = 2


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_lend_twice, "a receiver still reads it"),
        (_overlap, "two blocks overlap"),
        (_lose, "in no list"),
        (_miscount, "the bytes taken"),
        (_release_twice, "more often than sent"),
    ],
)
def test_blocks(end: Endpoint, harm: Callable[[Arena], None], words: str) -> None:
    harm(end.arena)
    with pytest.raises(AssertionError, match=words):
        end.arena.take(PAGE)


# Channels and waits


def test_the_receiver_takes_only_what_was_sent(end: Endpoint) -> None:
    channel = end.channel(0, 1)
    channel._words[0] = 9
    with pytest.raises(AssertionError, match="what was not sent"):
        channel.send(b"")


def test_a_message_that_was_not_taken_stays(end: Endpoint) -> None:
    channel = end.channel(0, 1)
    channel._limit = 2 * SLOTS
    for _ in range(SLOTS):
        channel.send(b"")
    with pytest.raises(AssertionError, match="written over one"):
        channel.send(b"")


def test_the_receiver_takes_each_message(end: Endpoint) -> None:
    channel: MessageChannel = end.channel(1, 0)
    channel._words[channel._slots[1][1]] = (1 + SLOTS) << NUMBER
    with pytest.raises(AssertionError, match="a message is missing"):
        channel.receive()


def test_a_worker_is_awake_until_it_waits(end: Endpoint) -> None:
    end.waiter.states[end.me * STATE_WORDS] = 1
    with pytest.raises(AssertionError, match="looks asleep"):
        end.waiter.wait(lambda: True, 1)


# The event queue


def _hide_an_earlier_time(queue: Queue) -> None:
    queue._times.append(0)


def _go_ahead(queue: Queue) -> None:
    queue.time = 30


def _forget_events(queue: Queue) -> None:
    del queue._microsteps[20]


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_hide_an_earlier_time, "an earlier time"),
        (_go_ahead, "in the past"),
        (_forget_events, "a time has no events"),
    ],
)
def test_the_event_queue(harm: Callable[[Queue], None], words: str) -> None:
    queue, one = Queue(), events_named("a", None)["a"]
    for time in (5, 5, 10, 20):
        queue.at(one, time, None)
    queue.pop()
    queue._first = queue._times.pop(0)
    harm(queue)
    with pytest.raises(AssertionError, match=words):
        queue.pop()


# Schedules


class Source(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out: Any) -> None:
        out.set(1)


class Relay(Reactor):
    inp, out = Input[int](), Output[int]()

    @reaction(inp, effects=out)
    def pass_on(self, inp: Any, out: Any) -> None:
        out.set(inp.value)


class Main(Reactor):
    def __init__(self) -> None:
        self.source, self.relay, self.last = Source(), Relay(), Relay()
        connect(self.source.out, self.relay.inp)
        connect(self.relay.out, self.last.inp)


def test_nothing_is_present_after_a_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACTORLIB_SCHEDULES", "compiled")
    monkeypatch.setattr(Compiler, "_clear", lambda *_: None)
    with pytest.raises(AssertionError, match=r"present after the end of a tag: .*Main\.source\.out"):
        run(Main)


def _without(part: Plan, kind: type) -> Plan:
    return part._replace(items=tuple(item for item in part.items if not isinstance(item, kind)))


def _wait_last(part: Plan) -> Plan:
    return part._replace(items=tuple(sorted(part.items, key=lambda item: isinstance(item, Wait))))


def _wait_for_less(part: Plan) -> Plan:
    items = [item._replace(cells=()) if isinstance(item, Wait) else item for item in part.items]
    return part._replace(items=tuple(items))


@pytest.mark.parametrize(
    ("worker", "harm", "words"),
    [
        (1, lambda part: _without(part, NodeCall), "a call is not in its part"),
        (0, lambda part: part._replace(items=part.items[::-1]), "a part is out of order"),
        (0, lambda part: _without(part, Send), "wait for each other"),
        (1, _wait_last, "before it knows what was set"),
        (1, _wait_for_less, "expects other cells"),
    ],
)
def test_the_parts_of_a_split(worker: int, harm: Callable[[Plan], Plan], words: str) -> None:
    program = elaborate(Main)
    splitter = Splitter(program, partition(program, 2, {"Main.relay": 1}), copies=True)
    plan = plan_of(program, program.triggers_named(["startup"]))
    parts = splitter.split(plan)
    check_split(splitter, plan, parts)
    with pytest.raises(AssertionError, match=words):
        check_split(splitter, plan, parts | {worker: harm(parts[worker])})


def test_without_the_variable_no_method_is_wrapped() -> None:
    code = "from reactorlib.transport.arena import Arena; print(hasattr(Arena.take, '__wrapped__'))"
    environment = {name: value for name, value in os.environ.items() if name != "REACTORLIB_DEBUG"}
    for debug, wrapped in ({}, "False"), ({"REACTORLIB_DEBUG": "1"}, "True"):
        printed = subprocess.check_output([sys.executable, "-c", code], env=environment | debug, text=True)
        assert printed.strip() == wrapped

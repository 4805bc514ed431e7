"""Modes and connections: what they carry while a mode is active, who feeds a port in turns, which cycles they close."""

from itertools import product
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Bank,
    ElaborationError,
    Input,
    Mode,
    Output,
    Reactor,
    Timer,
    connect,
    elaborate,
    history,
    reaction,
    run,
    shutdown,
)
from tests.choice import first
from tests.reactorlib.conformance.modal import Modal, Script, local
from tests.reactorlib.observing import Execute, reactions, values, written


class Source(Reactor):
    tick = Timer(offset=0, period=4 * MSEC)
    out = Output[int]()

    def __init__(self):
        self.count = 0

    @reaction(tick, effects=out)
    def beat(self, tick, out):
        self.count += 1
        out.set(self.count)


class Sink(Reactor):
    inp = Input[int]()
    tick = Timer(offset=0, period=4 * MSEC)
    seen = Output[tuple]()

    @reaction(inp, tick, effects=seen)
    def hear(self, inp, tick, seen):
        seen.set((inp.is_present, inp.value))


class Wiring(Modal):
    """Two sources drive one input, each in its mode."""

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script)
        self.left, self.right, self.sink = Source(), Source(), Sink()
        with self.one:
            connect(self.left.out, self.sink.inp)

        with self.two:
            connect(self.right.out, self.sink.inp, after=3 * MSEC)


def test_connection_carries_values_only_while_its_mode_is_active(execute: Execute) -> None:
    result = execute(Wiring, script={0: "history two"}, timeout=19 * MSEC)
    assert [(at / MSEC, value) for at, _, value in written(result, "Wiring.sink.seen")] == [
        (0, (True, 1)),
        (4, (True, 2)),
        (8, (True, 3)),
        (12, (False, 3)),
        (15, (True, 4)),
        (16, (False, 4)),
        (19, (True, 5)),
    ]


def test_history_resumes_values_in_flight_with_the_remaining_delay(execute: Execute) -> None:
    script = {0: "history two", 1: "history one", 2: "history two"}
    result = execute(Wiring, script=script, timeout=39 * MSEC)
    arrived = [(at / MSEC, value) for at, _, (present, value) in written(result, "Wiring.sink.seen") if present]
    assert arrived == [
        *((0, 1), (4, 2), (8, 3)),
        *((15, 4), (19, 5)),  # the value sent at 20 ms is on its way when the mode is left
        *((24, 7), (28, 8)),
        *((33, 6), (35, 9), (39, 10)),
    ]


def test_reset_drops_values_in_flight(execute: Execute) -> None:
    script = {0: "reset two", 1: "history one", 2: "reset two"}
    result = execute(Wiring, script=script, timeout=36 * MSEC)
    arrived = [(at / MSEC, value) for at, _, (present, value) in written(result, "Wiring.sink.seen") if present]
    assert arrived == [*((0, 1), (4, 2), (8, 3)), *((15, 4), (19, 5)), *((24, 7), (28, 8)), (35, 9)]


class Feeding(Modal):
    """An output is fed by a connection in one mode, by two reactions in the other."""

    fed = Output[int]()
    tick = Timer(offset=0, period=4 * MSEC)

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script, begin)
        self.source = Source()
        with self.one:
            connect(self.source.out, self.fed)

    with Modal.two:

        @reaction("tick", effects="fed")
        def feed(self, tick, fed):
            fed.set(-self.now)

        @reaction("tick", effects="fed")
        def feed_sometimes(self, tick, fed):
            if self.now % 2:
                fed.set(-10 * self.now)


class Fed(Reactor):
    """Readers of the port, one of which changes its own copy and looks at it at other tags, too."""

    def __init__(self, script: Script):
        self.feeding = Feeding(script)
        self.sinks = Bank(Sink, 2)
        self.changing = Changing()
        connect(self.feeding.fed, self.sinks.inp)
        connect(self.feeding.fed, self.changing.inp)


class Changing(Reactor):
    inp = Input[int](mutable=True)
    tick = Timer(offset=1 * MSEC, period=4 * MSEC)
    seen = Output[tuple]()

    @reaction(inp, tick, effects=seen)
    def hear(self, inp, tick, seen):
        seen.set((inp.is_present, inp.value))


FED = {0: "history two", 1: "history one", 2: "reset two"}


def test_a_connection_in_one_mode_and_reactions_in_another_feed_a_port(execute: Execute) -> None:
    result = execute(Fed, script=FED, timeout=36 * MSEC)
    expected = [(0, 1), (4, 2), (8, 3), (12, 0), (16, 0), (20, -10), (24, 7), (28, 8), (32, -2), (36, -2)]
    for sink in ("sinks[0]", "sinks[1]"):
        seen = written(result, f"Fed.{sink}.seen")
        assert [(at / MSEC, value) for at, _, (present, value) in seen if present] == expected
    seen = written(result, "Fed.changing.seen")
    assert [(at / MSEC, value) for at, _, (present, value) in seen if present] == expected
    assert [value for at, _, (present, value) in seen if not present] == [1, 2, 3, 0, 0, -10, 7, 8, -2]


PLACED = ("Fed.feeding", "Fed.feeding.source", "Fed.sinks[0]", "Fed.sinks[1]", "Fed.changing")


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("workers", first(1, [2, 3], "places on a third worker; two are always tried"))
def test_what_feeds_a_port_in_turns_reaches_every_worker(executor: str, workers: int) -> None:
    expected = run(Fed, script=FED, timeout=36 * MSEC, fast=True, trace=True).digest
    everywhere = list(product(range(workers), repeat=len(PLACED)))
    for places in everywhere[:: max(1, len(everywhere) // 16)]:
        placement = dict(zip(PLACED, places, strict=True))
        result = run(Fed, script=FED, timeout=36 * MSEC, fast=True, trace=True,
                     executor=executor, workers=workers, placement=placement)  # fmt: skip
        assert result.digest == expected, placement


class FedAtTheEnd(Feeding):
    with Modal.two:

        @reaction("tick", shutdown, effects="fed")
        def feed(self, tick, fed): ...


class FedInOneMode(Feeding):
    with Modal.one:

        @reaction("tick", effects="fed")
        def feed(self, tick, fed): ...


class FedInAnyMode(Feeding):
    @reaction("tick", effects="fed")
    def feed(self, tick, fed): ...


@pytest.mark.parametrize(
    ("main", "why"),
    [(FedAtTheEnd, ", which shutdown triggers in whatever mode"), (FedInOneMode, ""), (FedInAnyMode, "")],
)
def test_a_reaction_that_may_run_beside_a_connection_is_a_second_source(main: type[Reactor], why: str) -> None:
    with pytest.raises(
        ElaborationError,
        match=rf"fed has two sources: .*source.out .* and the reaction {main.__name__}.feed .*[)]{why}$",
    ):
        elaborate(main, script={})


class Parting(Reactor):
    """Its shutdown reaction sets what is connected in one mode, and read by a reaction in the other."""

    out = Output[int]()

    @reaction(shutdown, effects=out)
    def end(self, out):
        out.set(99)


class FedByParting(Modal):
    fed = Output[int]()

    def __init__(self, script: Script, begin: int = 10 * MSEC):
        super().__init__(script, begin)
        self.parting, self.other = Parting(), Parting()
        with self.one:
            connect(self.parting.out, self.fed)

    with Modal.two:

        @reaction("other.out", effects="fed")
        def feed(self, out, fed):
            fed.set(-out.value)


class FedToTheEnd(Reactor):
    def __init__(self, script: Script):
        self.feeding, self.sink = FedByParting(script), Sink()
        connect(self.feeding.fed, self.sink.inp)


@pytest.mark.parametrize(("script", "last"), [({}, 99), ({0: "history two"}, -99)])
def test_only_the_source_of_the_active_mode_feeds_a_port_at_shutdown(
    execute: Execute, script: Script, last: int
) -> None:
    result = execute(FedToTheEnd, script=script, timeout=20 * MSEC)
    assert written(result, "FedToTheEnd.sink.seen")[-1] == (20 * MSEC, 0, (True, last))


class Adder(Reactor):
    inp = Input[int]()
    inp2 = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def add(self, inp, out):
        out.set(inp.value + 1)

    @reaction(inp2)
    def hear(self, inp2): ...


class Cycle(Reactor):
    """`back` stands before `forth` in class order but reads what it leads to: only exclusive modes allow that."""

    ready = Mode(initial=True)
    waiting = Mode()
    go = Timer(offset=0, period=5 * MSEC)

    def __init__(self):
        self.adder = Adder()

    with waiting:

        @reaction("adder.out", "go", effects=history(ready))
        def back(self, out, go, ready):
            ready.set()

    with ready:

        @reaction(go, effects=["adder.inp", history(waiting)])
        def forth(self, go, inp, waiting):
            inp.set(1)
            waiting.set()


def test_reactions_in_exclusive_modes_may_close_a_cycle(execute: Execute) -> None:
    assert reactions(execute(Cycle, timeout=10 * MSEC)) == [
        (0, 0, "Cycle.forth"),
        (0, 0, "Cycle.adder.add"),
        (5 * MSEC, 0, "Cycle.back"),
        (10 * MSEC, 0, "Cycle.forth"),
        (10 * MSEC, 0, "Cycle.adder.add"),
    ]


class Echo(Reactor):
    """What one mode's reaction sets, the other mode's reads."""

    a_in, b_in = Input[int](), Input[int]()
    a_out, b_out = Output[int](), Output[int]()
    tick = Timer(offset=0, period=1 * MSEC)
    turn = Timer(offset=1 * MSEC, period=2 * MSEC)
    one, two = Mode(initial=True), Mode()

    with one:

        @reaction(tick, a_in, effects=b_out)
        def a_to_b(self, tick, a_in, b_out):
            b_out.set(10 * a_in.is_present)

        @reaction(turn, effects=history(two))
        def to_two(self, turn, two):
            two.set()

    with two:

        @reaction(tick, b_in, effects=a_out)
        def b_to_a(self, tick, b_in, a_out):
            a_out.set(20 * b_in.is_present)

        @reaction(turn, effects=history(one))
        def to_one(self, turn, one):
            one.set()


class RunsAtTheEnd(Echo):
    """At shutdown, when the other mode may be active, this one's reaction runs as well."""

    with Echo.one:

        @reaction(Echo.tick, Echo.a_in, shutdown, effects=Echo.b_out)
        def a_to_b(self, tick, a_in, b_out): ...


class ThirdVoice(Echo):
    """In the second mode a later reaction sets what an earlier one reads."""

    with Echo.two:

        @reaction(Echo.tick, effects=Echo.b_out)
        def third(self, tick, b_out): ...


class Ring(Reactor):
    def __init__(self, echo: type[Reactor] = Echo):
        self.echo: Any = echo()
        connect(self.echo.b_out, self.echo.b_in)
        connect(self.echo.a_out, self.echo.a_in)


def test_reactions_in_exclusive_modes_may_be_connected_in_a_ring(execute: Execute) -> None:
    result = execute(Ring, timeout=4 * MSEC)
    assert local(result, "a_to_b", "b_to_a") == [
        *((0, 0, "a_to_b"), (1, 0, "a_to_b")),
        *((2, 0, "b_to_a"), (3, 0, "b_to_a")),
        (4, 0, "a_to_b"),
    ]
    assert {*values(result, "Ring.echo.a_out"), *values(result, "Ring.echo.b_out")} == {0}


@pytest.mark.parametrize("echo", [RunsAtTheEnd, ThirdVoice])
def test_reactions_that_may_run_at_one_tag_close_no_cycle(echo: type[Reactor]) -> None:
    with pytest.raises(ElaborationError, match="causality cycle"):
        elaborate(Ring, echo=echo)


class HalfEcho(Reactor):
    """A ring like that of Echo, one half of which is a connection."""

    a_in, b_in = Input[int](), Input[int]()
    a_out, b_out = Output[int](), Output[int]()
    tick = Timer(offset=0, period=1 * MSEC)
    turn = Timer(offset=1 * MSEC, period=2 * MSEC)
    one, two = Mode(initial=True), Mode()

    def __init__(self):
        with self.one:
            connect(self.a_in, self.b_out)

    @reaction(turn, effects=[history(one), history(two)])
    def switch(self, turn, one, two):
        two.set()

    with two:

        @reaction(tick, b_in, effects=a_out)
        def b_to_a(self, tick, b_in, a_out):
            a_out.set(20 * b_in.is_present)


def test_a_connection_and_a_reaction_in_exclusive_modes_may_form_a_ring(execute: Execute) -> None:
    result = execute(Ring, echo=HalfEcho, timeout=3 * MSEC)
    assert local(result, "b_to_a") == [(2, 0, "b_to_a"), (3, 0, "b_to_a")]
    assert values(result, "Ring.echo.a_out") == [0, 0]

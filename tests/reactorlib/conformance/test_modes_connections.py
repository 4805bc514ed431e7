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
from tests.reactorlib.conformance.modal import Modal, Parting, Script
from tests.reactorlib.conformance.reactors import Reader, Relay, Source, noted
from tests.reactorlib.observing import Execute, arrived, story, values, written


def counting() -> Source:
    """Sends 1, 2, 3, ... every 4 ms."""
    return Source(*range(1, 20), period=4 * MSEC)


class Listener(Reactor):
    """Reports what it hears, and looks at its input at other times as well."""

    inp = Input[int]()
    tick = Timer(offset="offset", period=4 * MSEC)
    seen = Output[tuple]()

    def __init__(self, offset: int = 0): ...

    @reaction(inp, tick, effects=seen)
    def hear(self, inp, tick, seen):
        seen.set((inp.is_present, inp.value))


class Copying(Listener):
    inp = Input[int](mutable=True)


def heard(result: Any, port: str) -> list[tuple[float, Any]]:
    """When which values were present, in ms."""
    return [(at, value) for at, (present, value) in arrived(result, port) if present]


class Wiring(Modal):
    def __init__(self, script: Script):
        super().__init__(script)
        self.left, self.right, self.sink = counting(), counting(), Listener()
        with self.one:
            connect(self.left.out, self.sink.inp)

        with self.two:
            connect(self.right.out, self.sink.inp, after=3 * MSEC)


def test_connection_carries_values_only_while_its_mode_is_active(execute: Execute) -> None:
    result = execute(Wiring, script={0: "history two"}, timeout=19 * MSEC)
    before = [(0, (True, 1)), (4, (True, 2)), (8, (True, 3))]
    after = [(12, (False, 3)), (15, (True, 4)), (16, (False, 4)), (19, (True, 5))]
    assert arrived(result, "Wiring.sink.seen") == before + after


FIRST = [(0, 1), (4, 2), (8, 3), (15, 4), (19, 5), (24, 7), (28, 8)]  # the value sent at 20 ms waits, or is dropped


@pytest.mark.parametrize(
    ("entry", "timeout", "rest"), [("history", 39, [(33, 6), (35, 9), (39, 10)]), ("reset", 36, [(35, 9)])]
)
def test_values_in_flight_are_resumed_by_history_and_dropped_by_reset(execute: Execute, entry, timeout, rest) -> None:
    script = {0: f"{entry} two", 1: "history one", 2: f"{entry} two"}
    result = execute(Wiring, script=script, timeout=timeout * MSEC)
    assert heard(result, "Wiring.sink.seen") == FIRST + rest


class Feeding(Modal):
    fed = Output[int]()
    tick = Timer(offset=0, period=4 * MSEC)

    def __init__(self, script: Script):
        super().__init__(script)
        self.source = counting()
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
    """Readers of the port. The last has its own copy and looks at it at other tags as well."""

    def __init__(self, script: Script):
        self.feeding = Feeding(script)
        self.sinks = Bank(Listener, 2)
        self.copying = Copying(offset=1 * MSEC)
        connect(self.feeding.fed, self.sinks.inp)
        connect(self.feeding.fed, self.copying.inp)


FED: dict[str, Any] = {"script": {0: "history two", 1: "history one", 2: "reset two"}, "timeout": 36 * MSEC}


def test_a_connection_in_one_mode_and_reactions_in_another_feed_a_port(execute: Execute) -> None:
    result = execute(Fed, **FED)
    expected = [(0, 1), (4, 2), (8, 3), (12, 0), (16, 0), (20, -10), (24, 7), (28, 8), (32, -2), (36, -2)]
    for reader in ("sinks[0]", "sinks[1]", "copying"):
        assert heard(result, f"Fed.{reader}.seen") == expected
    kept = [value for _, (present, value) in arrived(result, "Fed.copying.seen") if not present]
    assert kept == [1, 2, 3, 0, 0, -10, 7, 8, -2]


PLACED = ("Fed.feeding", "Fed.feeding.source", "Fed.sinks[0]", "Fed.sinks[1]", "Fed.copying")


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("workers", first(1, [2, 3], "places on a third worker; two are always tried"))
def test_sources_that_take_turns_reach_every_worker(executor: str, workers: int) -> None:
    expected = run(Fed, fast=True, trace=True, **FED).digest
    everywhere = list(product(range(workers), repeat=len(PLACED)))
    for places in everywhere[:: max(1, len(everywhere) // 16)]:
        placement = dict(zip(PLACED, places, strict=True))
        result = run(Fed, fast=True, trace=True, executor=executor, workers=workers, placement=placement, **FED)
        assert result.digest == expected, placement


class FedAtTheEnd(Feeding):
    with Modal.two:
        feed = noted("tick", shutdown, effects="fed")


class FedInOneMode(Feeding):
    with Modal.one:
        feed = noted("tick", effects="fed")


class FedInAnyMode(Feeding):
    feed = noted("tick", effects="fed")


@pytest.mark.parametrize(("main", "why"), [(FedAtTheEnd, "shutdown"), (FedInOneMode, ""), (FedInAnyMode, "")])
def test_a_reaction_that_may_run_beside_a_connection_is_a_second_source(main: type[Reactor], why: str) -> None:
    with pytest.raises(ElaborationError, match=rf"fed has two sources: .*source.out .*{main.__name__}.feed .*{why}"):
        elaborate(main, script={})


@pytest.mark.parametrize(("script", "last"), [({}, 99), ({0: "history two"}, -99)])
def test_only_the_source_of_the_active_mode_feeds_a_port_at_shutdown(execute: Execute, script, last) -> None:
    class FedByParting(Modal):
        """A value that is sent at shutdown is connected in one mode, and read by a reaction in the other."""

        fed = Output[int]()

        def __init__(self, script: Script):
            super().__init__(script)
            self.parting, self.other = Parting(99), Parting(99)
            with self.one:
                connect(self.parting.out, self.fed)

        with Modal.two:

            @reaction("other.out", effects="fed")
            def feed(self, out, fed):
                fed.set(-out.value)

    class FedToTheEnd(Reactor):
        def __init__(self, script: Script):
            self.feeding, self.sink = FedByParting(script), Listener()
            connect(self.feeding.fed, self.sink.inp)

    result = execute(FedToTheEnd, script=script, timeout=20 * MSEC)
    assert written(result, "FedToTheEnd.sink.seen")[-1] == (20 * MSEC, 0, (True, last))


def test_reactions_in_exclusive_modes_may_close_a_cycle(execute: Execute) -> None:
    class Cycle(Reactor):
        """`back` stands before `forth` in class order but reads what it leads to: only exclusive modes allow that."""

        ready, waiting = Mode(initial=True), Mode()
        go = Timer(offset=0, period=5 * MSEC)

        def __init__(self):
            self.adder = Relay(quiet=True)

        with waiting:

            @reaction("adder.out", "go", effects=history(ready))
            def back(self, out, go, ready):
                ready.set()

        with ready:

            @reaction(go, effects=["adder.inp", history(waiting)])
            def forth(self, go, inp, waiting):
                inp.set(1)
                waiting.set()

    told = story(execute(Cycle, timeout=10 * MSEC), "forth", "step", "back")
    assert told == "0 forth, 0 step, 5 back, 10 forth, 10 step"


class Ports(Reactor):
    a_in, b_in = Input[int](), Input[int]()
    a_out, b_out = Output[int](), Output[int]()
    tick = Timer(offset=0, period=1 * MSEC)
    turn = Timer(offset=1 * MSEC, period=2 * MSEC)
    one, two = Mode(initial=True), Mode()

    @reaction(turn, effects=[history(one), history(two)])
    def switch(self, turn, one, two):
        self.switches = getattr(self, "switches", 0) + 1
        (two if self.switches % 2 else one).set()

    with two:

        @reaction(tick, b_in, effects=a_out)
        def b_to_a(self, tick, b_in, a_out):
            a_out.set(20 * b_in.is_present)


class Echo(Ports):
    with Ports.one:

        @reaction("tick", "a_in", effects="b_out")
        def a_to_b(self, tick, a_in, b_out):
            b_out.set(10 * a_in.is_present)


class OwnEcho(Echo):
    """With copies of its own, which make no difference to what may form a ring."""

    a_in, b_in = Input[int](mutable=True), Input[int](mutable=True)


class HalfEcho(Ports):
    def __init__(self):
        with self.one:
            connect(self.a_in, self.b_out)


class RunsAtTheEnd(Echo):
    """At shutdown, when the other mode may be active, this one's reaction runs as well."""

    with Ports.one:
        a_to_b = noted("tick", "a_in", shutdown, effects="b_out")


class ThirdVoice(Echo):
    """In the second mode a later reaction sets what an earlier one reads."""

    with Ports.two:
        third = noted("tick", effects="b_out")


class Ring(Reactor):
    def __init__(self, echo: type[Reactor]):
        self.echo: Any = echo()
        connect(self.echo.b_out, self.echo.b_in)
        connect(self.echo.a_out, self.echo.a_in)


TURNS = "0 a_to_b, 1 a_to_b, 2 b_to_a, 3 b_to_a, 4 a_to_b"


@pytest.mark.parametrize(("echo", "expected"), [(Echo, TURNS), (OwnEcho, TURNS), (HalfEcho, "2 b_to_a, 3 b_to_a")])
def test_reactions_and_connections_in_exclusive_modes_may_form_a_ring(execute: Execute, echo, expected) -> None:
    result = execute(Ring, echo=echo, timeout=4 * MSEC)
    assert story(result, "a_to_b", "b_to_a") == expected
    assert {*values(result, "Ring.echo.a_out"), *values(result, "Ring.echo.b_out")} == {0}


@pytest.mark.parametrize("mutable", [False, True])
def test_a_reader_on_a_ring_keeps_the_value_of_the_other_mode(execute: Execute, mutable: bool) -> None:
    class Recalling(Ports):
        a_in, b_in = Input[int](mutable=mutable), Input[int](mutable=mutable)

        with Ports.one:

            @reaction("tick", "a_in", effects="b_out")
            def a_to_b(self, tick, a_in, b_out):
                b_out.set((a_in.is_present, a_in.value))

    result = execute(Ring, echo=Recalling, timeout=4 * MSEC)
    assert values(result, "Ring.echo.b_out") == [(False, None), (False, None), (False, 0)]


class OwnReader(Reader):
    inp = Input[Any](mutable=True)


@pytest.mark.parametrize("kind", [Reader, OwnReader])
def test_reactors_contained_in_exclusive_modes_may_form_a_ring(execute: Execute, kind: type[Reactor]) -> None:
    class Around(Modal):
        def __init__(self, script: Script):
            super().__init__(script)
            with self.one:
                self.left: Any = kind(2, period=6 * MSEC)
            with self.two:
                self.right: Any = kind(2, period=6 * MSEC)
            connect(self.left.seen, self.right.inp)
            connect(self.right.seen, self.left.inp)

    result = execute(Around, script={0: "history two"}, timeout=20 * MSEC)
    assert written(result, "Around.left.seen") == [(0, 0, (False, None)), (6 * MSEC, 0, (False, None))]
    last = False, (False, None)
    assert written(result, "Around.right.seen") == [(10 * MSEC, 1, last), (16 * MSEC, 0, last)]


def test_connections_of_exclusive_modes_do_not_break_a_ring_of_other_reactors() -> None:
    class InTurns(Modal):
        def __init__(self):
            super().__init__({})
            self.left, self.right = Relay(), Relay()
            with self.one:
                connect(self.left.out, self.right.inp)
            with self.two:
                connect(self.right.out, self.left.inp)

    with pytest.raises(ElaborationError, match="causality cycle"):
        elaborate(InTurns)


@pytest.mark.parametrize("echo", [RunsAtTheEnd, ThirdVoice])
def test_reactions_that_may_run_at_one_tag_close_no_cycle(echo: type[Reactor]) -> None:
    with pytest.raises(ElaborationError, match="causality cycle"):
        elaborate(Ring, echo=echo)

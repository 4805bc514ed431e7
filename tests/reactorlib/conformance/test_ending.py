"""Section "Ending"."""

import signal
import traceback
from pathlib import Path
from typing import Any

import pytest

from reactorlib import (
    HOUR,
    MSEC,
    Input,
    LogicalAction,
    Output,
    Reactor,
    Tag,
    Timer,
    connect,
    physical_elapsed,
    reaction,
    request_stop,
    run,
    shutdown,
    startup,
)
from reactorlib.errors import ReactionError, ReactorError
from reactorlib.worker.coordinator import LOOK_TAGS
from tests.reactorlib.conformance.reactors import Relay, noted
from tests.reactorlib.executors.programs import IDLE
from tests.reactorlib.executors.test_signals import ALL_ENDED, Victim, ended
from tests.reactorlib.observing import Execute, reactions, story, values


class Ticking(Reactor):
    """At the given ticks it asks for the end of the run."""

    tick = Timer(offset=0, period=2 * MSEC)
    act, never = LogicalAction(), LogicalAction()

    def __init__(self, stops: list[int] | None = None):
        self.stops, self.ticks = stops or [], 0

    @reaction(tick, effects=act)
    def beat(self, tick, act):
        act.schedule()
        if self.ticks in self.stops:
            request_stop()
        self.ticks += 1

    @reaction(act, effects=never)
    def follow(self, act, never):
        if self.ticks - 1 in self.stops:
            request_stop()
            never.schedule()

    too_late = noted(never)

    @reaction(shutdown)
    def end(self):
        request_stop()


ROUND = "0 beat, 0+1 follow"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param({"timeout": 2 * MSEC}, f"{ROUND}, 2 beat, 2 end", id="events at the timeout run"),
        pytest.param({"timeout": 3 * MSEC}, f"{ROUND}, 2 beat, 2+1 follow, 3 end", id="timeout between events"),
        pytest.param({"stops": [0]}, f"{ROUND}, 0+1 end", id="a stop comes one microstep later"),
        pytest.param({"stops": [1]}, f"{ROUND}, 2 beat, 2+1 follow, 2+1 end", id="a later stop"),
        pytest.param({"stops": [1], "timeout": 1 * MSEC}, f"{ROUND}, 1 end", id="the timeout is earlier"),
        pytest.param({"stops": [1], "timeout": 2 * MSEC}, f"{ROUND}, 2 beat, 2 end", id="the timeout is at the stop"),
        pytest.param({"stops": [1], "timeout": 3 * MSEC}, f"{ROUND}, 2 beat, 2+1 follow, 2+1 end", id="stop first"),
    ],
)
def test_timeout_and_stop_end_a_run_with_the_events_of_their_tag_and_shutdown(execute: Execute, options, told) -> None:
    """Nothing runs later. The earlier of the two wins. A stop has no effect inside shutdown."""
    result = execute(Ticking, **options)
    assert story(result) == told
    assert tuple(result.tag) == reactions(result)[-1][:2]


def test_timeout_zero_runs_startup_and_shutdown_in_one_tag(execute: Execute) -> None:
    class Both(Reactor):
        again = LogicalAction()
        follow = noted(again)

        @reaction(startup, effects=again)
        def begin(self, again):
            again.schedule()

        either, end = noted(startup, shutdown), noted(shutdown)

    result = execute(Both, timeout=0)
    assert story(result) == "0 begin, 0 either, 0 end"
    assert result.tag == Tag(0, 0)


def test_a_stop_before_the_first_tag_lets_that_tag_run(execute: Execute) -> None:
    class Early(Reactor):
        tick = Timer(offset=0, period=1 * MSEC)
        begin, beat, end = noted(startup), noted(tick), noted(shutdown)

        @classmethod
        def __opened__(cls, handle):
            handle.request_stop()

    result = execute(Early)
    assert story(result) == "0 begin, 0 beat, 0 end"
    assert result.tag == Tag(0, 0)


class Finite(Reactor):
    tick = Timer(offset=3 * MSEC)
    beat, end = noted(tick), noted(shutdown)


class Nothing(Reactor):
    end = noted(shutdown)


@pytest.mark.parametrize(
    ("main", "options", "told", "last"),
    [
        (Finite, {}, "3 beat, 3+1 end", Tag(3 * MSEC, 1)),
        (Finite, {"timeout": 1 * HOUR, "fast": False}, "3 beat, 3+1 end", Tag(3 * MSEC, 1)),
        (Nothing, {}, "0+1 end", Tag(0, 1)),
    ],
)
def test_starvation_ends_at_once_one_microstep_after_the_last_tag(execute: Execute, main, options, told, last) -> None:
    result = execute(main, **options)
    assert story(result) == told
    assert result.tag == last


class Restless(Reactor):
    """A loop without a delay, which ends one look at the time after another that was long enough ago."""

    again = LogicalAction()
    rounds = waited = 0  # rounds until 30 ms after the first look, and all later ones
    looked_at: int

    @reaction(startup, again, effects=again)
    def turn(self, again):
        if self.rounds < 2 * LOOK_TAGS:  # a busy machine may take any time for them
            self.rounds += 1
            self.looked_at = physical_elapsed()
        elif physical_elapsed() >= self.looked_at + 30 * MSEC:
            self.waited += 1
        if self.waited < 2 * LOOK_TAGS:
            again.schedule()


class RestlessWithTimer(Restless):
    late = Timer(10 * MSEC)
    ring = noted(late)


@pytest.mark.parametrize(
    ("main", "options", "reported"),
    [
        (Restless, {"timeout": 10 * MSEC}, True),
        (Restless, {"timeout": 10 * MSEC, "fast": False}, True),
        (RestlessWithTimer, {}, True),
        (Restless, {}, False),
        (Restless, {"timeout": HOUR, "fast": False}, False),
    ],
    ids=["a timeout", "a timeout in physical time", "a timer", "nothing waits", "the timeout is not due"],
)
def test_time_that_stands_still_is_reported_once_if_something_is_due(
    execute: Execute, main, options, reported, monkeypatch, capfd
) -> None:
    monkeypatch.setattr("reactorlib.worker.coordinator.STILL_NS", 10 * MSEC)
    result = execute(main, trace=False, **options)
    assert result.tag.time <= 10 * MSEC
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("reactorlib:")]
    assert len(lines) == reported
    assert all(f"({main.__name__}.again)" in line for line in lines)


def test_shutdown_reactions_write_ports_and_schedule_in_vain(execute: Execute) -> None:
    class Closing(Reactor):
        inp, out = Input[str](), Output[str]()
        act = LogicalAction()
        never = noted(act)

        @reaction(shutdown, inp, effects=[out, act])
        def end(self, inp, out, act):
            out.set(inp.value if inp.is_present else "end")
            act.schedule()

    class Writing(Reactor):
        def __init__(self):
            self.first, self.second = Closing(), Closing()
            connect(self.first.out, self.second.inp)
            connect(self.second.out, self.first.inp, after=0)

    result = execute(Writing)
    assert reactions(result) == [(0, 1, "Writing.first.end"), (0, 1, "Writing.second.end")]
    assert values(result, "Writing.second.out") == ["end"]


def failing(trigger: Any, error: BaseException) -> type[Reactor]:
    """Raises the error, between two reactors that are still shut down and write down what they do."""

    class Failing(Reactor):
        tick = Timer(offset=2 * MSEC)

        @reaction(trigger)
        def fail(self, *elements):
            raise error

        @reaction(trigger)
        def after(self, *elements):
            raise AssertionError("no reaction runs after one has raised")

    class Recording(Reactor):
        def __init__(self, log: list[str]):
            self.log = log

        @reaction(startup)
        def begin(self):
            self.log.append("begins")

        @reaction(shutdown)
        def end(self):
            self.log.append("ends")

    class Witnessed(Reactor):
        def __init__(self, log: list[str]):
            self.left, self.inner, self.right = Recording(log), Failing(), Recording(log)

    return Witnessed


@pytest.mark.parametrize(("trigger", "tag", "time"), [("tick", (2 * MSEC, 0), "2 ms"), (shutdown, (0, 1), "0 ns")])
def test_reaction_that_raises_stops_the_run_with_its_cause_after_the_shutdown_of_the_others(
    path: str, trigger: Any, tag: tuple[int, int], time: str
) -> None:
    log: list[str] = []
    with pytest.raises(ReactionError) as caught:
        run(failing(trigger, KeyError("what is wrong")), log=log, fast=True)
    error = caught.value
    assert isinstance(error, ReactorError)
    assert (error.reactor, error.reaction, tuple(error.tag)) == ("Witnessed.inner", "fail", tag)
    assert isinstance(error.__cause__, KeyError)
    assert traceback.extract_tb(error.__cause__.__traceback__)[-1].name == "fail"
    assert [part for part in ("Witnessed.inner", "fail", time, "what is wrong") if part not in str(error)] == []
    assert log == ["begins"] * 2 + ["ends"] * 2


def test_error_reported_is_that_of_the_lowest_tag_level_position(execute: Execute) -> None:
    class FailingInput(Reactor):
        inp = Input[int]()

        @reaction(inp)
        def fail(self, inp):
            raise ValueError("failed")

    class TwoFailures(Reactor):
        def __init__(self):
            self.later, self.source, self.sooner = FailingInput(), Relay(), FailingInput()
            self.relay = Relay(quiet=True)
            connect(self.source.out, self.relay.inp)
            connect(self.relay.out, self.later.inp)
            connect(self.source.out, self.sooner.inp)

    for _ in range(3):
        with pytest.raises(ReactionError) as caught:
            execute(TwoFailures)
        assert caught.value.reactor == "TwoFailures.sooner"


@pytest.mark.parametrize("what", ["rounds", IDLE])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_signal_ends_the_run_after_its_shutdown_reactions(
    path: str, what: str, number: signal.Signals, tmp_path: Path
) -> None:
    with Victim("inline", what, str(tmp_path / "log")) as victim:
        victim.process.send_signal(number)
        status, _ = victim.end()
    assert ended(victim.log) == ALL_ENDED
    assert status != 0

"""Section "Ending"."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import traceback
from typing import Any

import pytest

from reactorlib import (
    HOUR,
    MSEC,
    Input,
    LogicalAction,
    Output,
    ReactionError,
    Reactor,
    ReactorError,
    Tag,
    Timer,
    connect,
    reaction,
    request_stop,
    run,
    shutdown,
    startup,
)
from tests.reactorlib.conformance.reactors import Relay, noted
from tests.reactorlib.observing import Execute, reactions, values


class Ticking(Reactor):
    """At the given ticks it asks for the end of the run."""

    tick = Timer(offset=0, period=2 * MSEC)
    act = LogicalAction()
    never = LogicalAction()

    def __init__(self, stops: tuple[int, ...] = ()):
        self.stops = stops
        self.ticks = 0

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


ROUND = [(0, 0, "beat"), (0, 1, "follow")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"timeout": 2}, [*ROUND, (2, 0, "beat"), (2, 0, "end")], id="events at the timeout run"),
        pytest.param({"timeout": 3}, [*ROUND, (2, 0, "beat"), (2, 1, "follow"), (3, 0, "end")], id="between events"),
        pytest.param({"stops": (0,)}, [*ROUND, (0, 1, "end")], id="a stop comes one microstep later"),
        pytest.param({"stops": (1,)}, [*ROUND, (2, 0, "beat"), (2, 1, "follow"), (2, 1, "end")], id="a later stop"),
        pytest.param({"stops": (1,), "timeout": 1}, [*ROUND, (1, 0, "end")], id="the timeout is earlier"),
        pytest.param({"stops": (1,), "timeout": 2}, [*ROUND, (2, 0, "beat"), (2, 0, "end")], id="the timeout is first"),
        pytest.param(
            {"stops": (1,), "timeout": 3},
            [*ROUND, (2, 0, "beat"), (2, 1, "follow"), (2, 1, "end")],
            id="the stop is earlier",
        ),
    ],
)
def test_timeout_and_stop_end_a_run_with_the_events_of_their_tag_and_shutdown_and_nothing_later(
    execute: Execute, options: dict[str, Any], expected: list[Any]
) -> None:
    """The earlier of the two wins. A stop has no effect inside shutdown."""
    timeout = options.get("timeout")
    result = execute(Ticking, stops=options.get("stops", ()), timeout=timeout if timeout is None else timeout * MSEC)
    assert reactions(result) == [(at * MSEC, microstep, f"Ticking.{name}") for at, microstep, name in expected]
    assert result.tag == Tag(expected[-1][0] * MSEC, expected[-1][1])


class Both(Reactor):
    again = LogicalAction()
    out = Output[str]()

    @reaction(startup, effects=[again, out])
    def begin(self, again, out):
        again.schedule()
        out.set("startup")

    follow = noted(again)

    @reaction(startup, shutdown, effects=out)
    def either(self, out):
        out.set("both" if out.is_present else "shutdown")

    end = noted(shutdown)


def test_timeout_zero_runs_startup_and_shutdown_in_one_tag(execute: Execute) -> None:
    result = execute(Both, timeout=0)
    assert reactions(result) == [(0, 0, "Both.begin"), (0, 0, "Both.either"), (0, 0, "Both.end")]
    assert result.tag == Tag(0, 0)


class Finite(Reactor):
    tick = Timer(offset=3 * MSEC)
    beat, end = noted(tick), noted(shutdown)


@pytest.mark.parametrize("options", [{"timeout": 1 * HOUR, "fast": False}, {}], ids=["timeout", "no timeout"])
def test_starvation_ends_at_once_one_microstep_after_the_last_tag(execute: Execute, options: dict[str, Any]) -> None:
    result = execute(Finite, **options)
    assert reactions(result) == [(3 * MSEC, 0, "Finite.beat"), (3 * MSEC, 1, "Finite.end")]
    assert result.tag == Tag(3 * MSEC, 1)


class Nothing(Reactor):
    end = noted(shutdown)


def test_program_without_events_starts_and_starves(execute: Execute) -> None:
    result = execute(Nothing)
    assert reactions(result) == [(0, 1, "Nothing.end")]
    assert result.tag == Tag(0, 1)


class Closing(Reactor):
    inp = Input[str]()
    out = Output[str]()
    act = LogicalAction()
    never = noted(act)

    @reaction(shutdown, inp, effects=[out, act])
    def end(self, inp, out, act):
        out.set(inp.value if inp.is_present else "end")
        act.schedule()


class Writing(Reactor):
    """Shutdown reactions write to each other, but what they schedule never happens."""

    def __init__(self):
        self.first, self.second = Closing(), Closing()
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.first.inp, after=0)


def test_shutdown_reactions_write_ports_and_schedule_in_vain(execute: Execute) -> None:
    result = execute(Writing)
    assert reactions(result) == [(0, 1, "Writing.first.end"), (0, 1, "Writing.second.end")]
    assert values(result, "Writing.second.out") == ["end"]


class Failing(Reactor):
    tick = Timer(offset=2 * MSEC)

    @reaction(tick)
    def fail(self, tick):
        raise KeyError("what is wrong")

    @reaction(tick)
    def after(self, tick):
        raise AssertionError("no reaction runs after one has raised")


class FailingEnd(Reactor):
    @reaction(shutdown)
    def fail(self):
        raise KeyError("what is wrong")


class Exiting(Reactor):
    @reaction(startup)
    def fail(self):
        sys.exit(3)


class Recording(Reactor):
    def __init__(self, log: list[str], name: str):
        self.log, self.name = log, name

    @reaction(startup)
    def begin(self):
        self.log.append(f"{self.name} begins")

    @reaction(shutdown)
    def end(self):
        self.log.append(f"{self.name} ends")


class Witnessed(Reactor):
    def __init__(self, log: list[str], failing: type[Reactor]):
        self.left = Recording(log, "left")
        self.inner = failing()
        self.right = Recording(log, "right")


@pytest.mark.parametrize(("failing", "tag", "time"), [(Failing, (2 * MSEC, 0), "2 ms"), (FailingEnd, (0, 1), "0 ns")])
def test_reaction_that_raises_stops_the_run_with_its_cause_after_the_shutdown_of_the_others(
    path: str, failing: type[Reactor], tag: tuple[int, int], time: str
) -> None:
    log: list[str] = []
    with pytest.raises(ReactionError) as caught:
        run(Witnessed, log=log, failing=failing, fast=True)
    error = caught.value
    assert isinstance(error, ReactorError)
    assert (error.reactor, error.reaction, tuple(error.tag)) == ("Witnessed.inner", "fail", tag)
    assert isinstance(error.__cause__, KeyError)
    assert traceback.extract_tb(error.__cause__.__traceback__)[-1].name == "fail"
    assert [part for part in ("Witnessed.inner", "fail", time, "what is wrong") if part not in str(error)] == []
    assert log == ["left begins", "right begins", "left ends", "right ends"]


def test_system_exit_in_a_reaction_ends_the_run_like_any_error(path: str) -> None:
    log: list[str] = []
    with pytest.raises(SystemExit) as caught:
        run(Witnessed, log=log, failing=Exiting, fast=True)
    assert caught.value.code == 3
    assert log[-2:] == ["left ends", "right ends"]


class FailingInput(Reactor):
    inp = Input[int]()

    @reaction(inp)
    def fail(self, inp):
        raise ValueError("failed")


class TwoFailures(Reactor):
    """Both fail at the same tag; the one of the lower level is reported, wherever it is declared."""

    def __init__(self):
        self.later, self.source, self.sooner = FailingInput(), Relay(), FailingInput()
        self.relay = Relay(quiet=True)
        connect(self.source.out, self.relay.inp)
        connect(self.relay.out, self.later.inp)
        connect(self.source.out, self.sooner.inp)


def test_error_reported_is_that_of_the_lowest_tag_level_position(execute: Execute) -> None:
    for _ in range(3):
        with pytest.raises(ReactionError) as caught:
            execute(TwoFailures)
        assert caught.value.reactor == "TwoFailures.sooner"


ENDLESS = """
    from reactorlib import *

    class Endless(Reactor):
        tick = Timer(offset=0, period=5 * MSEC)
        begun = False

        @reaction(tick)
        def beat(self, tick):
            if not self.begun:
                self.begun = True
                print("running", flush=True)

        @reaction(shutdown)
        def end(self):
            print("shutdown", flush=True)

    try:
        run(Endless, timeout=60 * SEC)
    except BaseException as error:
        print(type(error).__name__, flush=True)
        raise
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_signal_ends_the_run_after_its_shutdown_reactions(path: str, number: signal.Signals) -> None:
    command = [sys.executable, "-c", textwrap.dedent(ENDLESS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        begun = time.monotonic()
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert out.splitlines()[0] == "shutdown"
    assert process.returncode != 0
    assert time.monotonic() - begun < 10

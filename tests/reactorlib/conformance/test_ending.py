"""Section "Ending"."""

import os
import signal
import subprocess
import sys
import textwrap
import time

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
from tests.reactorlib.observing import Execute, reactions, values


class Ticking(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    act = LogicalAction()

    @reaction(tick, effects=act)
    def beat(self, tick, act):
        act.schedule()

    @reaction(act)
    def follow(self, act): ...

    @reaction(shutdown)
    def end(self): ...


def test_events_at_the_timeout_run_together_with_shutdown_and_nothing_later(execute: Execute) -> None:
    result = execute(Ticking, timeout=2 * MSEC)
    assert reactions(result) == [
        (0, 0, "Ticking.beat"),
        (0, 1, "Ticking.follow"),
        (2 * MSEC, 0, "Ticking.beat"),
        (2 * MSEC, 0, "Ticking.end"),
    ]
    assert result.tag == Tag(2 * MSEC, 0)


def test_timeout_between_events_ends_at_the_timeout(execute: Execute) -> None:
    result = execute(Ticking, timeout=3 * MSEC)
    assert reactions(result)[-2:] == [(2 * MSEC, 1, "Ticking.follow"), (3 * MSEC, 0, "Ticking.end")]
    assert result.tag == Tag(3 * MSEC, 0)


class Both(Reactor):
    again = LogicalAction()
    out = Output[str]()

    @reaction(startup, effects=[again, out])
    def begin(self, again, out):
        again.schedule()
        out.set("startup")

    @reaction(again)
    def follow(self, again): ...

    @reaction(startup, shutdown, effects=out)
    def either(self, out):
        out.set("both" if out.is_present else "shutdown")

    @reaction(shutdown)
    def end(self): ...


def test_timeout_zero_runs_startup_and_shutdown_in_one_tag(execute: Execute) -> None:
    result = execute(Both, timeout=0)
    assert reactions(result) == [(0, 0, "Both.begin"), (0, 0, "Both.either"), (0, 0, "Both.end")]
    assert result.tag == Tag(0, 0)


class Stopping(Reactor):
    tick = Timer(offset=0, period=2 * MSEC)
    act = LogicalAction()
    late = LogicalAction()

    def __init__(self, at: int = 1):
        self.left = at

    @reaction(tick, effects=act)
    def beat(self, tick, act):
        if not self.left:
            request_stop()
            act.schedule()
        self.left -= 1

    @reaction(act, effects=late)
    def follow(self, act, late):
        late.schedule()

    @reaction(late)
    def never(self, late): ...

    @reaction(shutdown)
    def end(self): ...


def test_request_stop_ends_one_microstep_later_with_the_events_there(execute: Execute) -> None:
    result = execute(Stopping)
    assert reactions(result) == [
        (0, 0, "Stopping.beat"),
        (2 * MSEC, 0, "Stopping.beat"),
        (2 * MSEC, 1, "Stopping.follow"),
        (2 * MSEC, 1, "Stopping.end"),
    ]
    assert result.tag == Tag(2 * MSEC, 1)


class StoppingTwice(Reactor):
    act = LogicalAction()

    @reaction(startup, effects=act)
    def begin(self, act):
        request_stop()
        act.schedule()

    @reaction(act)
    def again(self, act):
        request_stop()

    @reaction(shutdown)
    def end(self):
        request_stop()


def test_request_stop_has_no_effect_in_shutdown(execute: Execute) -> None:
    result = execute(StoppingTwice)
    assert reactions(result) == [
        (0, 0, "StoppingTwice.begin"),
        (0, 1, "StoppingTwice.again"),
        (0, 1, "StoppingTwice.end"),
    ]
    assert result.tag == Tag(0, 1)


class StopAtTimeout(Reactor):
    tick = Timer(offset=2 * MSEC)

    @reaction(tick)
    def beat(self, tick):
        request_stop()

    @reaction(shutdown)
    def end(self): ...


@pytest.mark.parametrize(("timeout", "last"), [(1, (1, 0)), (2, (2, 0)), (3, (2, 1))])
def test_earlier_stop_tag_wins(execute: Execute, timeout: int, last: tuple[int, int]) -> None:
    result = execute(StopAtTimeout, timeout=timeout * MSEC)
    assert result.tag == Tag(last[0] * MSEC, last[1])
    assert reactions(result)[-1] == (last[0] * MSEC, last[1], "StopAtTimeout.end")


class Finite(Reactor):
    tick = Timer(offset=3 * MSEC)

    @reaction(tick)
    def beat(self, tick): ...

    @reaction(shutdown)
    def end(self): ...


def test_starvation_ends_at_once_one_microstep_after_the_last_tag(execute: Execute) -> None:
    result = execute(Finite, timeout=1 * HOUR, fast=False)
    assert reactions(result) == [(3 * MSEC, 0, "Finite.beat"), (3 * MSEC, 1, "Finite.end")]
    assert result.tag == Tag(3 * MSEC, 1)


def test_starvation_needs_no_timeout(execute: Execute) -> None:
    assert execute(Finite).tag == Tag(3 * MSEC, 1)


class Nothing(Reactor):
    @reaction(shutdown)
    def end(self): ...


def test_program_without_events_starts_and_starves(execute: Execute) -> None:
    result = execute(Nothing)
    assert reactions(result) == [(0, 1, "Nothing.end")]
    assert result.tag == Tag(0, 1)


class Writing(Reactor):
    """Shutdown reactions write to each other, but what they schedule never happens."""

    def __init__(self):
        self.first, self.second = Closing(), Closing()
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.first.inp, after=0)


class Closing(Reactor):
    inp = Input[str]()
    out = Output[str]()
    act = LogicalAction()

    @reaction(shutdown, inp, effects=[out, act])
    def end(self, inp, out, act):
        out.set(inp.value if inp.is_present else "end")
        act.schedule()

    @reaction(act)
    def never(self, act): ...


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
    def __init__(self, log: list[str]):
        self.left = Recording(log, "left")
        self.inner = Failing()
        self.right = Recording(log, "right")


def test_reaction_that_raises_stops_the_run_with_its_cause(path: str) -> None:
    log: list[str] = []
    with pytest.raises(ReactionError) as caught:
        run(Witnessed, log=log, fast=True)
    error = caught.value
    assert isinstance(error, ReactorError)
    assert (error.reactor, error.reaction, tuple(error.tag)) == ("Witnessed.inner", "fail", (2 * MSEC, 0))
    assert isinstance(error.__cause__, KeyError)
    frames = []
    traceback = error.__cause__.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert frames[-1] == "fail"
    for part in ("Witnessed.inner", "fail", "2 ms", "what is wrong"):
        assert part in str(error)


def test_shutdown_reactions_of_other_reactors_still_run(path: str) -> None:
    log: list[str] = []
    with pytest.raises(ReactionError):
        run(Witnessed, log=log, fast=True)
    assert log == ["left begins", "right begins", "left ends", "right ends"]


class Ending(Reactor):
    def __init__(self, log: list[str]):
        self.first, self.bad, self.last = Recording(log, "first"), BadEnd(), Recording(log, "last")


class BadEnd(Reactor):
    @reaction(shutdown)
    def end(self):
        raise RuntimeError("at the end")


def test_error_in_a_shutdown_reaction_leaves_the_others_running(path: str) -> None:
    log: list[str] = []
    with pytest.raises(ReactionError, match="at the end") as caught:
        run(Ending, log=log, fast=True)
    assert caught.value.reactor == "Ending.bad"
    assert log[-2:] == ["first ends", "last ends"]


class TwoFailures(Reactor):
    """Both fail at the same tag; the one of the lower level is reported, wherever it is declared."""

    def __init__(self):
        self.later, self.source, self.sooner = FailingInput(), Sending(), FailingInput()
        self.relay = Relaying()
        connect(self.source.out, self.relay.inp)
        connect(self.relay.out, self.later.inp)
        connect(self.source.out, self.sooner.inp)


class Sending(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(1)


class Relaying(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def pass_on(self, inp, out):
        out.set(inp.value)


class FailingInput(Reactor):
    inp = Input[int]()

    @reaction(inp)
    def fail(self, inp):
        raise ValueError("failed")


def test_error_reported_is_that_of_the_lowest_tag_level_position(execute: Execute) -> None:
    for _ in range(3):
        with pytest.raises(ReactionError) as caught:
            execute(TwoFailures)
        assert caught.value.reactor == "TwoFailures.sooner"


class Exiting(Reactor):
    @reaction(startup)
    def begin(self):
        sys.exit(3)


def test_system_exit_in_a_reaction_ends_the_run_like_any_error(path: str) -> None:
    with pytest.raises((ReactionError, SystemExit)) as caught:
        run(Exiting, fast=True)
    cause = caught.value if isinstance(caught.value, SystemExit) else caught.value.__cause__
    assert isinstance(cause, SystemExit)
    assert cause.code == 3


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

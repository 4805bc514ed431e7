"""A thread that schedules faster than reactions run waits for them, and no end of a run waits for that thread."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from time import sleep
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    SEC,
    Input,
    Output,
    PhysicalAction,
    Reactor,
    RunError,
    Session,
    connect,
    physical_elapsed,
    reaction,
    request_stop,
    run,
    run_handle,
    shutdown,
    startup,
)
from reactorlib.errors import ReactionError

FEW = 10
PATIENCE_S = 20


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reactorlib.worker.inbox.CROWD", FEW)
    monkeypatch.setattr("reactorlib.worker.inbox.PAUSE_S", 1e-5)


class Feeder(Reactor):
    """A thread schedules `count` events, or events until the end. `begin` returns once the thread has to wait."""

    event = PhysicalAction[int]()

    def __init__(self, count: float, then: Callable[[], object]) -> None:
        self.count, self.then = count, then
        self.sent = self.heard = self.most = 0
        self.goes_on = True

    def feed(self, event: PhysicalAction[int], handle: Any) -> None:
        with suppress(RunError):  # the run was killed
            while self.goes_on and self.sent < self.count:
                self.sent += 1
                event.schedule(value=self.sent)
            if self.goes_on:
                handle.request_stop(after_pending=True)

    @reaction(startup, effects=event)
    def begin(self, event) -> None:
        self.thread = threading.Thread(target=self.feed, args=(event, run_handle()), daemon=True)
        self.thread.start()
        while self.sent <= FEW:
            assert physical_elapsed() < PATIENCE_S * SEC
        self.then()

    @reaction(event)
    def hear(self, event) -> None:
        self.heard += 1
        assert event.value == self.heard
        self.most = max(self.most, self.sent - self.heard)

    @reaction(shutdown)
    def end(self) -> None:
        self.goes_on = False
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


@pytest.mark.usefixtures("path")
def test_no_more_than_the_limit_is_pending_and_nothing_is_lost() -> None:
    class Slow(Feeder):
        @reaction("event")
        def take_time(self, _event) -> None:
            """Give the thread the time to go too far, once."""
            until = physical_elapsed() + 50 * MSEC
            while self.heard == 1 and self.sent < 3 * FEW and physical_elapsed() < until:
                sleep(0.001)

        @reaction(shutdown)
        def note(self) -> None:
            got.append((self.sent, self.heard, self.most))

    got: list[tuple[int, int, int]] = []
    run(Slow, count=20 * FEW, then=lambda: None)
    [(sent, heard, most)] = got
    assert sent == heard == 20 * FEW
    assert most <= FEW + 1  # with the one whose call waits


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def fail() -> None:
    raise ValueError("on purpose")


def outlast_the_timeout() -> None:
    while physical_elapsed() < 2 * MSEC:
        pass


@pytest.mark.parametrize(
    ("then", "error", "options"),
    [
        (request_stop, None, {}),
        (outlast_the_timeout, None, {"timeout": 1 * MSEC}),
        (fail, ReactionError, {}),
        (interrupt, KeyboardInterrupt, {}),
    ],
    ids=["stop", "timeout", "error", "interrupt"],
)
def test_every_end_of_a_run_lets_the_thread_go(then: Any, error: Any, options: Any) -> None:
    class Main(Reactor):
        """The reactor that fails is not shut down, so another one does it."""

        def __init__(self) -> None:
            self.feeder = feeders.append(Feeder(float("inf"), then)) or feeders[0]

        @reaction(shutdown)
        def end(self) -> None:
            ended.append(feeders[0].end())

    ended: list[None] = []
    feeders: list[Feeder] = []
    with pytest.raises(error) if error else nullcontext():
        run(Main, **options)
    assert ended


@pytest.mark.parametrize("end", [Session.close, Session.kill])
def test_the_end_of_a_session_lets_the_thread_go(end: Any) -> None:
    class Kept(Feeder):
        def __init__(self) -> None:
            super().__init__(float("inf"), lambda: kept.append(self))

    kept: list[Feeder] = []
    session = Session(Kept)
    end(session)
    kept[0].goes_on = False
    kept[0].thread.join(PATIENCE_S)
    assert not kept[0].thread.is_alive()


class Giver(Reactor):
    event = PhysicalAction[int]()
    out = Output[Any]()

    def __init__(self) -> None:
        self.heard = 0

    @reaction(startup, effects=[event, out])
    def begin(self, event, out) -> None:
        out.set(event)

    @reaction(event)
    def hear(self, event) -> None:
        self.heard += 1
        if self.heard == 3 * FEW:
            request_stop()


class Taker(Reactor):
    inp = Input[Any]()

    @reaction(inp)
    def take(self, inp) -> None:
        for number in range(3 * FEW):
            inp.value.schedule(value=number)


class Handed(Reactor):
    def __init__(self) -> None:
        self.giver, self.taker = Giver(), Taker()
        connect(self.giver.out, self.taker.inp)


def test_a_reaction_on_another_thread_does_not_wait() -> None:
    result = run(Handed, executor="threads", workers=2, placement={"Handed.taker": 1}, timeout=PATIENCE_S * SEC)
    assert result.tag.time < PATIENCE_S * SEC


def test_a_thread_that_waits_long_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    noticed: list[str] = []
    monkeypatch.setattr("reactorlib.worker.inbox.LONG_S", 0.0)
    monkeypatch.setattr("reactorlib.worker.inbox.notice", noticed.append)
    session = Session(Feeder, count=float("inf"), then=lambda: None)
    while not noticed:
        assert physical(session) < PATIENCE_S
    session.close()
    [line] = noticed
    assert line.startswith("Feeder.event.schedule() has waited")


def physical(session: Session) -> float:
    outside = session._execution.coordinator.inbox
    return (outside.clock.now() - outside.started) / SEC

"""Threads that reactions start: what they may ask of their run, and what happens to what they raise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest

from reactorlib import (
    SEC,
    Bank,
    LogicalAction,
    Reactor,
    RunError,
    ThreadError,
    current_tag,
    physical_elapsed,
    physical_time,
    reaction,
    request_stop,
    run,
    shutdown,
    startup,
)
from tests.reactorlib.observing import Execute, reactions

LIMIT = 20 * SEC  # no run here lasts longer, whatever goes wrong
PATIENCE_S = 20


class Starter(Reactor):
    """The member that is told to starts a thread, and joins it in the end."""

    def __init__(self, which: int, work: Callable[[], None]) -> None:
        self.chosen, self.work = self.bank_index == which, work

    @reaction(startup)
    def begin(self) -> None:
        if self.chosen:
            self.thread = threading.Thread(target=self.work, name="feeder", daemon=True)
            self.thread.start()

    @reaction(shutdown)
    def end(self) -> None:
        if self.chosen:
            self.thread.join(PATIENCE_S)


class Idle(Reactor):
    """Where reactors are dealt out to two workers, member 1 is in this process."""

    def __init__(self, which: int, work: Callable[[], None]) -> None:
        self.members = Bank(Starter, 2, which, work)


class Spin(Reactor):
    """Goes from microstep to microstep, alone, and never waits."""

    again = LogicalAction()

    @reaction(startup, again, effects=again)
    def turn(self, again) -> None:
        if physical_elapsed() < LIMIT:
            again.schedule()


class Busy(Idle):
    def __init__(self, which: int, work: Callable[[], None]) -> None:
        self.spin = Spin()
        super().__init__(which, work)


def ask_twice() -> None:
    """From a thread of the thread, too."""
    assert 0 <= physical_elapsed() < physical_time()
    thread = threading.Thread(target=request_stop)
    thread.start()
    thread.join()


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("main", [Idle, Busy])
def test_a_thread_asks_for_the_time_and_stops_the_run(main: Any, which: int, execute: Execute) -> None:
    result = execute(main, which=which, work=ask_twice, keepalive=True, timeout=LIMIT, trace=main is Idle)
    assert result.tag.time < LIMIT
    assert result.tag.microstep > 0
    if main is Idle:
        last = [name for *_, name in reactions(result)][-2:]
        assert sorted(last) == ["Idle.members[0].end", "Idle.members[1].end"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("main", [Idle, Busy])
def test_what_a_thread_raises_ends_the_run(main: Any, which: int, execute: Execute, capfd: Any) -> None:
    class Ends(main):
        @reaction(shutdown)
        def last(self) -> None:
            print("shut down", flush=True)

    def fail() -> None:
        raise ValueError("no reply")

    with pytest.raises(
        ThreadError, match="thread 'feeder', which a reaction started, raised ValueError: no reply"
    ) as e:
        execute(Ends, which=which, work=fail, keepalive=True, timeout=LIMIT, trace=False)
    assert type(e.value.__cause__) is ValueError
    assert e.value.thread == "feeder"
    assert capfd.readouterr().out == "shut down\n"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_exits_ends_alone(execute: Execute) -> None:
    def leave() -> None:
        raise SystemExit(3)

    assert execute(Idle, which=1, work=leave).tag.time < LIMIT


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_that_no_reaction_started_are_their_own(execute: Execute) -> None:
    asked: list[str] = []
    begun, over = threading.Event(), threading.Event()

    def other() -> None:
        begun.wait(PATIENCE_S)
        for ask in (request_stop, physical_time, physical_elapsed):
            try:
                ask()
            except RunError as error:
                asked.append(str(error))
        over.set()
        raise ValueError("not of the run")

    def work() -> None:
        begun.set()
        over.wait(PATIENCE_S)
        request_stop()

    thread = threading.Thread(target=other)
    thread.start()
    assert execute(Idle, which=1, work=work, keepalive=True, timeout=LIMIT).tag.time < LIMIT
    thread.join()
    assert len(asked) == 3
    assert all("copy_context" in text for text in asked)


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_after_the_end_of_the_run_its_threads_are_told_so(executor: str) -> None:
    asked: list[str] = []
    over = threading.Event()

    def work() -> None:
        request_stop()
        over.wait(PATIENCE_S)
        for ask in (request_stop, physical_time, physical_elapsed):
            try:
                ask()
            except RunError as error:
                asked.append(str(error))

    class Leaves(Reactor):
        @reaction(startup)
        def begin(self) -> None:
            kept.append(threading.Thread(target=work))
            kept[0].start()

    kept: list[threading.Thread] = []
    run(Leaves, keepalive=True, timeout=LIMIT, executor=executor, workers=2)
    over.set()
    kept[0].join()
    assert asked == ["the run that this thread belongs to has ended"] * 3


def test_only_reactions_know_the_tag(execute: Execute) -> None:
    def work() -> None:
        with pytest.raises(RunError, match="only a reaction"):
            current_tag()
        request_stop()

    assert execute(Idle, which=0, work=work, keepalive=True, timeout=LIMIT).tag.time < LIMIT


def test_each_of_several_runs_has_its_own_threads(execute: Execute) -> None:
    """The first run ends while the second goes on, and the other way round."""
    first_ended = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        second = pool.submit(
            run, Idle, which=0, work=lambda: first_ended.wait(PATIENCE_S) and request_stop(), keepalive=True,
            timeout=LIMIT,
        )  # fmt: skip
        result = execute(Idle, which=1, work=request_stop, keepalive=True, timeout=LIMIT)
        assert result.tag.time < LIMIT
        assert not second.done()
        first_ended.set()
        assert second.result(PATIENCE_S).tag.time < LIMIT


def test_a_context_that_is_handed_on_is_enough() -> None:
    class Pooled(Reactor):
        @reaction(startup)
        def begin(self) -> None:
            pool.submit(copy_context().run, request_stop)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result(PATIENCE_S)  # its thread is no reaction's
        assert run(Pooled, keepalive=True, timeout=LIMIT).tag.time < LIMIT


def test_a_thread_may_run_a_program_of_its_own() -> None:
    def work() -> None:
        tags.append(run(Idle, which=0, work=request_stop, keepalive=True, timeout=LIMIT).tag)
        request_stop()

    tags: list[Any] = []
    assert run(Idle, which=0, work=work, keepalive=True, timeout=LIMIT).tag.time < LIMIT
    assert tags[0].time < LIMIT

"""Threads that reactions start. They ask their run by its handle, and their errors end it."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    SEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    Reactor,
    RunHandle,
    current_tag,
    elaborate,
    physical_elapsed,
    physical_time,
    reaction,
    request_stop,
    run,
    run_handle,
    shutdown,
    startup,
)
from reactorlib.errors import RunError, ThreadError
from reactorlib.execution import fresh
from reactorlib.program import Program
from tests.reactorlib.conformance.reactors import noted
from tests.reactorlib.observing import Execute, reactions, values

LIMIT = 20 * SEC  # no run here lasts longer, whatever goes wrong
PATIENCE_S = 20
Work = Callable[[RunHandle], object]


class Starter(Reactor):
    """The member that is chosen starts a thread, and joins it in the end."""

    def __init__(self, which: int, work: Work) -> None:
        self.chosen, self.work = self.bank_index == which, work

    @reaction(startup)
    def begin(self) -> None:
        if self.chosen:
            handle = run_handle()
            self.thread = threading.Thread(target=handle.call, args=(self.work, handle), name="feeder", daemon=True)
            self.thread.start()

    @reaction(shutdown)
    def end(self) -> None:
        if self.chosen:
            self.thread.join(PATIENCE_S)


class Idle(Reactor):
    """On two workers, member 1 is on the second."""

    def __init__(self, which: int, work: Work) -> None:
        self.members = Bank(Starter, 2, which, work)


class Spin(Reactor):
    """Goes from microstep to microstep, alone, and never waits."""

    again = LogicalAction()

    @reaction(startup, again, effects=again)
    def turn(self, again) -> None:
        if physical_elapsed() < LIMIT:
            again.schedule()


class Busy(Idle):
    def __init__(self, which: int, work: Work) -> None:
        self.spin = Spin()
        super().__init__(which, work)


def ask_twice(handle: RunHandle) -> None:
    """Also from a thread of the thread."""
    assert 0 <= handle.physical_elapsed() < handle.physical_time()
    assert handle.start_time() <= handle.physical_time()
    thread = threading.Thread(target=handle.request_stop)
    thread.start()
    thread.join()


OPTIONS: dict[str, Any] = {"keepalive": True, "timeout": LIMIT}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("main", [Idle, Busy])
def test_a_thread_asks_for_the_time_and_stops_the_run(main: Any, which: int, execute: Execute) -> None:
    result = execute(main, which=which, work=ask_twice, trace=main is Idle, **OPTIONS)
    assert result.tag.time < LIMIT
    assert result.tag.microstep > 0
    if main is Idle:
        last = [name for *_, name in reactions(result)][-2:]
        assert sorted(last) == ["Idle.members[0].end", "Idle.members[1].end"]


class Sensor(Reactor):
    """A thread schedules `count` samples, each with a delay, and asks to stop after them."""

    sample = PhysicalAction[int](min_delay="delay")
    heard = Output[int]()

    def __init__(self, count: int, delay: int) -> None:
        self.count, self.delay = count, delay

    @reaction(startup, effects="sample")
    def begin(self, sample) -> None:
        handle = run_handle()

        def feed() -> None:
            for number in range(self.count):
                sample.schedule((self.count - number) * MSEC // 10, value=number)
            handle.request_stop(after_pending=True)
            with suppress(RunError):
                sample.schedule(1 * SEC, value=-1)

        threading.Thread(target=feed).start()

    @reaction("sample", effects=heard)
    def hear(self, sample, heard) -> None:
        heard.set(sample.value)


class Spaced(Sensor):
    sample = PhysicalAction[int](min_delay="delay", min_spacing=1 * MSEC)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("delay", [0, 5 * MSEC])
@pytest.mark.parametrize("main", [Sensor, Spaced])
def test_a_stop_after_what_is_pending_loses_nothing_of_its_thread(
    main: Any, delay: int, fast: bool, execute: Execute
) -> None:
    result = execute(main, count=40, delay=delay, fast=fast, timeout=LIMIT)
    assert sorted(values(result, f"{main.__name__}.heard")) == [*range(40)]
    assert result.tag.microstep > 0
    assert result.tag.time < 1 * SEC


class Asking(Reactor):
    inp = Input[int]()

    @reaction(inp)
    def begin(self, _inp) -> None:
        threading.Thread(target=run_handle().request_stop, args=(True,)).start()


class Asked(Reactor):
    """A reaction schedules an action, and a thread of another worker asks to stop after it."""

    sample = PhysicalAction[int](min_delay=20 * MSEC)

    def __init__(self) -> None:
        self.members = Bank(Asking, 3)

    @reaction(startup, effects=[sample, "members.inp"])
    def begin(self, sample, inputs) -> None:
        sample.schedule(value=1)
        inputs[2].set(1)

    hear = noted(sample)


def test_a_thread_of_another_worker_stops_after_what_is_pending(execute: Execute) -> None:
    result = execute(Asked, fast=False, timeout=LIMIT)
    assert [name for *_, name in reactions(result)].count("Asked.hear") == 1
    assert result.tag.time < LIMIT


class Forking(Reactor):
    """Makes a call in a forked process, and passes on what that raised."""

    sample = PhysicalAction[int]()

    def __init__(self, call: Callable[[Any, RunHandle], object]) -> None:
        self.call = call

    @reaction(startup, effects=sample)
    def begin(self, sample) -> None:
        handle, (reading, writing) = run_handle(), os.pipe()
        child = os.fork()
        if not child:
            try:
                self.call(sample, handle)
            except RunError as error:
                os.write(writing, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writing)
        with os.fdopen(reading) as said:
            print(said.read())
        request_stop()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "call",
    [lambda sample, _: sample.schedule(), lambda _, handle: handle.request_stop(), lambda *_: request_stop()],
    ids=["schedule", "handle", "reaction"],
)
def test_a_forked_process_is_refused(call: Any, capsys: Any) -> None:
    run(Forking, call=call)
    assert f"forked from process {os.getpid()}" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(("main", "times"), [(Idle, 1), (Busy, 1), (Idle, 30_000)], ids=["idle", "busy", "a long text"])
def test_an_error_of_a_thread_ends_the_run(main: Any, times: int, which: int, execute: Execute, capfd: Any) -> None:
    class Ends(main):
        @reaction(shutdown)
        def last(self) -> None:
            print("shut down", flush=True)

    def fail(_handle: RunHandle) -> None:
        raise ValueError("no reply" * times)

    with pytest.raises(ThreadError, match=r"'feeder', .* ValueError: no reply") as e:
        execute(Ends, which=which, work=fail, trace=False, **OPTIONS)
    if times == 1:  # a stand-in takes the place of an error that is too long for a datagram
        assert type(e.value.__cause__) is ValueError
    assert e.value.thread == "feeder"
    assert capfd.readouterr().out == "shut down\n"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_exits_ends_alone(execute: Execute) -> None:
    def leave(_handle: RunHandle) -> None:
        raise SystemExit(3)

    assert execute(Idle, which=1, work=leave).tag.time < LIMIT


@pytest.mark.parametrize("which", [0, 1])
def test_only_reactions_ask_without_a_handle(which: int, execute: Execute) -> None:
    def work(handle: RunHandle) -> None:
        for ask in (request_stop, physical_time, physical_elapsed, current_tag, run_handle):
            with pytest.raises(RunError, match=r"only a reaction.*run_handle\(\)"):
                ask()
        handle.request_stop()

    assert execute(Idle, which=which, work=work, **OPTIONS).tag.time < LIMIT


def test_threads_without_a_handle_are_their_own() -> None:
    """Nothing is patched: what they raise goes where Python sends it, and the run goes on."""
    raised: list[object] = []

    class Starts(Reactor):
        @reaction(startup)
        def begin(self) -> None:
            thread = threading.Thread(target=[].pop)
            thread.start()
            thread.join()
            request_stop()

    start, hook = threading.Thread.start, threading.excepthook
    threading.excepthook = raised.append
    try:
        assert run(Starts).tag.microstep == 1
        assert threading.Thread.start is start
    finally:
        threading.excepthook = hook
    assert [type(one.exc_value) for one in raised] == [IndexError]


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_after_the_end_of_the_run_a_handle_says_so(executor: str) -> None:
    kept: list[RunHandle] = []

    def work(handle: RunHandle) -> None:
        kept.append(handle)
        handle.request_stop()

    run(Idle, which=0, work=work, executor=executor, workers=2, **OPTIONS)
    [handle] = kept
    for ask in (handle.request_stop, handle.physical_time, handle.physical_elapsed, handle.start_time):
        with pytest.raises(RunError, match="has ended"):
            ask()


def test_each_of_several_runs_has_its_own_handle(execute: Execute) -> None:
    """The first run ends while the second goes on, and the other way round."""
    first_ended = threading.Event()

    def later(handle: RunHandle) -> None:
        first_ended.wait(PATIENCE_S)
        handle.request_stop()

    with ThreadPoolExecutor(2) as pool:
        second = pool.submit(run, Idle, which=0, work=later, **OPTIONS)
        result = execute(Idle, which=1, work=RunHandle.request_stop, **OPTIONS)
        assert result.tag.time < LIMIT
        assert not second.done()
        first_ended.set()
        assert second.result(PATIENCE_S).tag.time < LIMIT


def test_a_thread_may_run_a_program_of_its_own() -> None:
    def work(handle: RunHandle) -> None:
        tags.append(run(Idle, which=0, work=RunHandle.request_stop, **OPTIONS).tag)
        handle.request_stop()

    tags: list[Any] = []
    assert run(Idle, which=0, work=work, **OPTIONS).tag.time < LIMIT
    assert tags[0].time < LIMIT


def test_two_threads_that_run_one_program_at_once_share_no_reactor() -> None:
    """The second one takes the reactors at the worst moment: the first is about to."""

    class Worst(list[bool]):
        def pop(self, *_: Any) -> bool:
            if not others:
                others.append(threading.Thread(target=lambda: taken.append(fresh(program, {}))))
                others[0].start()
                others[0].join(0.2)  # it ends, or waits for this one
            return super().pop()

    others: list[threading.Thread] = []
    taken: list[Program] = []
    program = elaborate(Starter, which=1, work=print)
    object.__setattr__(program, "unused", Worst([True]))
    taken.append(fresh(program, {}))
    others[0].join(PATIENCE_S)
    assert len({id(one.root) for one in taken}) == 2

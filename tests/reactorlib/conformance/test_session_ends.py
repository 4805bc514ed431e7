"""How a session ends, and whose threads may drive it."""

import contextvars
import gc
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from reactorlib import (
    MSEC,
    Input,
    Output,
    Reactor,
    Session,
    Tag,
    Timer,
    elaborate,
    reaction,
    request_stop,
    run,
    run_handle,
    shutdown,
    startup,
)
from reactorlib.errors import ReactionError, RunError, ThreadError
from tests.reactorlib.conformance.sessions import SIGNALS, Farm, Opened, acting
from tests.reactorlib.observing import reactions, values


def test_a_program_may_have_run_before(opened: Opened) -> None:
    program = elaborate(Farm)
    run(program)
    with opened(program) as session:
        assert session.step(every=1)["sums"] == [2, 3]


def test_close_runs_shutdown_and_gives_the_result_each_time(opened: Opened) -> None:
    session = opened(Farm)
    session.step(every=1)
    result = session.close()
    assert result.tag == Tag(0, 2)
    members = ("doublers[0]", "doublers[1]", "owned[0]", "owned[1]")
    assert reactions(result)[-4:] == [(0, 2, f"Farm.{member}.end") for member in members]
    assert session.close() is result
    assert session.closed
    for call in (session.step, session.begin, session.finish, session.stepper((), ())):
        with pytest.raises(RunError, match=r"closed: .*\(0 ns, 2\)"):
            call()


class Stops(Reactor):
    inp, out = Input[int](), Output[int]()
    tick = Timer(3 * MSEC)

    @reaction(inp, effects=out)
    def take(self, inp, out) -> None:
        out.set(inp.value)
        if inp.value == 0:
            request_stop()

    @reaction(tick)
    def late(self, tick) -> None:
        request_stop()

    @reaction(shutdown, effects=out)
    def end(self, out) -> None:
        out.set(-1)


def test_a_program_that_stops_itself_takes_part_in_one_more_step(opened: Opened) -> None:
    session = opened(Stops)
    step = session.stepper(("inp",), ("out",))
    assert step(0) == 0
    assert not session.closed
    assert step(5) == -1
    assert session.closed
    with pytest.raises(RunError, match=r"closed: .*\(0 ns, 2\)"):
        step(6)
    assert values(session.close(), "Stops.out") == [0, 5, -1]


@pytest.mark.parametrize("begin", [False, True])
def test_a_program_that_stops_before_the_tag_of_a_step_says_so(opened: Opened, begin: bool) -> None:
    session = opened(Stops)
    with pytest.raises(RunError, match=r"stopped at \(3 ms, 1\)"):
        (session.begin if begin else session.step)(inp=1, until=4 * MSEC)
    assert session.closed
    assert values(session.close(), "Stops.out") == [-1]


@pytest.mark.parametrize("begin", [False, True])
def test_a_failing_reaction_ends_the_session_after_the_shutdown_reactions(opened: Opened, begin: bool) -> None:
    ended: list[int] = []

    class Main(Farm):
        @reaction(shutdown)
        def note(self) -> None:
            ended.append(1)

    session = opened(Main)
    session.step(every=1)
    if begin:
        session.begin(own=[1, "fail"])
    with pytest.raises(ReactionError) as raised:
        session.finish() if begin else session.step(own=[1, "fail"])
    assert (raised.value.reactor, raised.value.reaction, raised.value.tag) == ("Main.owned[1]", "double", Tag(0, 2))
    assert str(raised.value.__cause__) == "as asked"
    with pytest.raises(RunError, match=r"closed: ValueError .*\(0 ns, 2\)"):
        session.step(every=1)
    assert session.close() is None
    if session._execution.executor.name != "processes":  # there it is noted elsewhere
        assert ended == [1]


def failing(trigger: Any) -> type[Reactor]:
    class Fails(Reactor):
        @reaction(trigger)
        def act(self) -> None:
            raise KeyError("no")

    return Fails


def test_a_failing_reaction_at_either_end_is_raised_at_once(opened: Opened) -> None:
    with pytest.raises(ReactionError, match="act"):
        opened(failing(startup))
    session = opened(failing(shutdown))
    with pytest.raises(ReactionError, match="act"):
        session.close()
    assert session.close() is None


def empty() -> Iterator[int]:
    yield next(iter(()))


@pytest.mark.parametrize("begin", [False, True])
@pytest.mark.parametrize(("values", "kind"), [(lambda: iter(()), StopIteration), (empty, RuntimeError)])
def test_stop_iteration_in_a_reaction_is_its_error(opened: Opened, values: Any, kind: type, begin: bool) -> None:
    session = opened(acting(lambda: next(values())))
    if begin:
        session.begin(inp=1)
    with pytest.raises(ReactionError, match=f"act raised {kind.__name__}") as raised:
        session.finish() if begin else session.step(inp=1)
    assert (raised.value.reactor, raised.value.reaction) == ("Acting", "act")
    assert isinstance(raised.value.__cause__, kind)


def test_ctrl_c_in_a_step_ends_the_session_after_the_shutdown_reactions(opened: Opened) -> None:
    ended: list[int] = []
    session = opened(acting(lambda: signal.raise_signal(signal.SIGINT), ended))
    with pytest.raises(KeyboardInterrupt):
        session.step(inp=1)
    assert session.closed
    assert ended == [1]


def test_a_session_installs_no_handlers_of_signals(opened: Opened) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    seen: list[Any] = []
    with opened(acting(lambda: seen.extend(signal.getsignal(number) for number in SIGNALS))) as session:
        assert [signal.getsignal(number) for number in SIGNALS] == before
        session.step(inp=1)
    assert seen == before


def test_steps_may_come_from_different_threads(opened: Opened) -> None:
    with ThreadPoolExecutor(1) as pool:
        session = pool.submit(opened, Farm).result(20)
        step = session.stepper(("every",), ("sums",))
        for k in range(3):
            assert step(k) == [2 * k, 2 * k + 1]
            assert pool.submit(step, k).result(20) == [2 * k, 2 * k + 1]
        step.begin(1)
        assert pool.submit(step.finish).result(20) == [2, 3]
    assert step(9) == [18, 19]  # the thread that opened the session is gone
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session.close).result(20).tag == Tag(0, 9)


def test_steps_may_not_overlap() -> None:
    began, release = threading.Event(), threading.Event()

    def act() -> None:
        began.set()
        assert release.wait(20)

    with Session(acting(act)) as session, ThreadPoolExecutor(1) as pool:
        stepping = pool.submit(session.step, inp=1)
        assert began.wait(20)
        try:
            for call in (session.step, session.begin, session.finish, session.close, session.kill):
                with pytest.raises(RunError, match="another call"):
                    call()
        finally:
            release.set()
        assert stepping.result(20) == {}


def test_a_step_inside_a_reaction_is_refused() -> None:
    refused: list[int] = []

    def act() -> None:
        for call in (session.step, session.begin, session.finish, session.close, session.kill):
            with pytest.raises(RunError, match="inside a reaction"):
                call()
            refused.append(1)

    with Session(acting(act)) as session:
        session.step(inp=1)
        assert len(refused) == 5
        assert session.step(inp=1) == {}


def test_the_context_of_the_caller_is_as_before(opened: Opened) -> None:
    with opened(Farm) as session:
        before = dict(contextvars.copy_context())
        session.step(every=1)
        session.begin(every=1)
        assert dict(contextvars.copy_context()) == before
        session.finish()
        with pytest.raises(RunError, match="only a reaction"):
            request_stop()


def test_a_session_that_is_collected_leaves_no_thread(opened: Opened) -> None:
    before = threading.active_count()
    session: Any = opened(Farm)
    session.step(every=1)
    followers = getattr(session._execution.executor, "followers", {}).values()
    threads = [follower.thread for follower in followers if hasattr(follower, "thread")]
    del session, followers
    gc.collect()
    for thread in threads:
        thread.join(20)
    assert threading.active_count() <= before


def test_kill_ends_a_session_without_its_shutdown_reactions() -> None:
    ended: list[int] = []
    session = Session(acting(print, ended))
    session.kill()
    assert (session.closed, session.close(), ended) == (True, None, [])
    with pytest.raises(RunError, match="killed"):
        session.step()


def test_a_thread_of_a_reaction_that_fails_ends_the_session_at_its_next_step(opened: Opened) -> None:
    def fail() -> None:
        raise OSError("gone")

    def act() -> None:
        def work(call: Any) -> None:
            with suppress(OSError):
                call(fail)

        thread = threading.Thread(target=work, args=(run_handle().call,))
        thread.start()
        thread.join()

    with opened(acting(act)) as session:
        session.step(inp=1)
        with pytest.raises(ThreadError, match="gone"):
            session.step()
        assert session.closed

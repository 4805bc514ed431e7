"""Programs that are driven from outside: what a step is, what it returns, how a session ends."""

import contextvars
import gc
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import sleep
from typing import Any

import pytest

from reactorlib import (
    ABSENT,
    MSEC,
    SEC,
    USEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    PhysicalAction,
    Reactor,
    Session,
    Tag,
    Timer,
    connect,
    current_tag,
    elaborate,
    logical_elapsed,
    reaction,
    request_stop,
    run,
    run_handle,
    shutdown,
    startup,
)
from reactorlib.errors import ElaborationError, ReactionError, RunError, ThreadError
from reactorlib.worker.coordinator import Coordinator
from tests.reactorlib.conformance.reactors import Relay, noted
from tests.reactorlib.observing import reactions, values

Opened = Callable[..., Session]
FAR = 10**9 * SEC
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Doubler(Reactor):
    inp, out = Input[int](), Output[int]()
    end = noted(shutdown)

    @reaction(inp, effects=out)
    def double(self, inp, out) -> None:
        if inp.value == "fail":
            raise ValueError("as asked")
        if inp.value >= 0:
            out.set(2 * inp.value + self.bank_index)


class Farm(Reactor):
    """Two doublers that hear the same, and two that hear on a channel of their own."""

    every, own, sums = Input[int](), Input[int](width=2), Output[int](width=2)
    last, echo = Output[int](), Output[int]()

    def __init__(self) -> None:
        self.doublers = Bank(Doubler, 2)
        self.owned = Bank(Doubler, 2)
        connect(self.every, self.doublers.inp)
        connect(self.own, self.owned.inp)
        connect(self.doublers.out, self.sums)
        connect(self.every, self.echo)

    @reaction(every, uses="owned.out", effects=last)
    def gather(self, every, out, last) -> None:
        last.set([channel.value if channel.is_present else None for channel in out])


def acting(act: Callable[[], object], ended: list[int] | None = None) -> type[Reactor]:
    """A program that calls this function whenever its input is set, and notes that it is shut down."""

    class Acting(Reactor):
        inp = Input[int]()

        @reaction(inp)
        def act(self, inp) -> None:
            act()

        @reaction(shutdown)
        def end(self) -> None:
            if ended is not None:
                ended.append(1)

    return Acting


def test_a_step_sets_inputs_runs_one_tag_and_gives_the_outputs(opened: Opened) -> None:
    with opened(Farm) as session:
        step = session.stepper(inputs=("every",), outputs=("sums",))
        assert [step(k) for k in (1, 2, 3)] == [[2, 3], [4, 5], [6, 7]]
        assert session.tag == Tag(0, 3)
        step.begin(4)
        assert step.finish() == [8, 9]
        assert session.stepper((), ())() == ()


def test_several_outputs_are_a_tuple_a_multiport_takes_a_list_and_what_is_not_set_is_absent(opened: Opened) -> None:
    with opened(Farm) as session:
        step = session.stepper(inputs=("every", "own"), outputs=("sums", "last", "echo"))
        assert step(1, [5, 6]) == ([2, 3], [10, 13], 1)
        assert step(2, [7, ABSENT]) == ([4, 5], [14, None], 2)
        assert step(1, ABSENT) == ([2, 3], [None, None], 1)
        assert step(ABSENT, [1, 2]) == ([ABSENT, ABSENT], ABSENT, ABSENT)
        assert step(-1, ABSENT) == ([ABSENT, ABSENT], [None, None], -1)
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"


def test_a_step_by_names_gives_the_outputs_that_are_present(opened: Opened) -> None:
    with opened(Farm) as session:
        assert session.step(every=4) == {"sums": [8, 9], "last": [None, None], "echo": 4}
        assert session.step(own=[1, ABSENT]) == {}
        session.begin(every=1)
        assert session.finish()["echo"] == 1
        for _ in range(3):  # it stays open when nothing is pending
            assert session.step() == {}
        assert not session.closed
    assert session.closed


class Delayed(Reactor):
    inp, out = Input[int](), Output[int]()

    def __init__(self, after: int) -> None:
        self.doublers = Bank(Doubler, 2)
        connect(self.inp, self.doublers[0].inp)
        connect(self.doublers[0].out, self.doublers[1].inp, after=after)
        connect(self.doublers[1].out, self.out)


def test_events_due_at_the_next_microstep_join_the_next_step(opened: Opened) -> None:
    with opened(Delayed, after=0) as session:
        step = session.stepper(("inp",), ("out",))
        assert [step(1), step(2), step(ABSENT), step(ABSENT)] == [ABSENT, 5, 9, ABSENT]


class Clocked(Reactor):
    tick = Timer(1 * MSEC, 2 * MSEC)
    again = LogicalAction[int](min_delay=500 * USEC)
    inp, seen, time = Input[int](), Output[list[int]](), Output[int]()

    def __init__(self) -> None:
        self.history: list[Any] = []

    @reaction(tick)
    def beat(self, tick) -> None:
        self.history.append("beat")

    @reaction(inp, effects=again)
    def ask(self, inp, again) -> None:
        again.schedule(value=inp.value)

    @reaction(again)
    def answer(self, again) -> None:
        self.history.append(again.value)

    @reaction(inp, effects=(seen, time))
    def tell(self, inp, seen, time) -> None:
        seen.set(list(self.history))
        time.set(int(logical_elapsed()))

    @reaction(tick, effects=time)
    def show(self, tick, time) -> None:
        time.set(-1)


def test_a_step_at_a_time_runs_all_that_is_due_earlier_first(opened: Opened) -> None:
    with opened(Clocked) as session:
        step = session.stepper(("inp",), ("seen", "time"))
        assert step(7) == ([], 0)
        assert step(8, until=4 * MSEC) == ([7, "beat", "beat"], 4 * MSEC)
        assert session.tag == Tag(4 * MSEC, 0)
        assert step(9, until=4 * MSEC) == ([7, "beat", "beat"], 4 * MSEC)
        assert session.tag == Tag(4 * MSEC, 1)
        assert step(ABSENT, until=6 * MSEC) == (ABSENT, ABSENT)  # outputs are those of the last tag
        assert step(0, until=7 * MSEC) == ([7, "beat", "beat", 8, 9, "beat", "beat"], -1)  # and -1 of the timer


@pytest.mark.parametrize(("until", "fault"), [(1 * MSEC, "before"), (-1, "until"), ("soon", "until"), (2, "until")])
def test_a_time_that_cannot_be_is_refused_and_the_session_stays_open(opened: Opened, until: Any, fault: str) -> None:
    with opened(Clocked) as session:
        session.step(until=2 * MSEC)
        with pytest.raises(RunError, match=fault):
            session.step(until=until)
        assert session.step(until=3 * MSEC) == {"time": -1}


def test_the_trace_is_that_of_a_run_that_does_the_same() -> None:
    def driven(**options: Any) -> str:
        with Session(Clocked, trace=True, **options) as session:
            for k in range(40):
                session.step(inp=k, until=k * MSEC // 3)
        return session.close().digest

    processes = {"executor": "processes", "workers": 2}
    ways = [{}, {"executor": "threads", "workers": 3}, processes, {**processes, "start_method": "spawn"}]
    assert len({driven(**way) for way in ways}) == 1


class Alarm(Reactor):
    """A physical action that a thread schedules when the input is set."""

    ring = PhysicalAction[str]()
    inp = Input[int]()
    echo, out = Output[int](), Output[Any]()

    @reaction(inp, effects=[ring, echo])
    def ask(self, inp, ring, echo) -> None:
        echo.set(inp.value)
        if inp.value == 1:
            thread = threading.Thread(target=ring.schedule, kwargs={"value": "rung"})
            thread.start()
            thread.join()

    @reaction(ring, effects=out)
    def hear(self, ring, out) -> None:
        out.set((ring.value, current_tag()))


def test_a_physical_action_keeps_its_tag_and_runs_once_a_step_reaches_it(opened: Opened) -> None:
    with opened(Alarm) as session:
        step = session.stepper(("inp",), ("out",))
        assert step(1) is ABSENT
        assert session.step() == {}  # logical time stands still
        step(ABSENT, until=FAR)
        assert session.tag == Tag(FAR, 0)
        assert step(1) is ABSENT
        assert step(ABSENT) == ("rung", Tag(FAR, 2))  # it came before: at the next microstep
    first, second = (record for record in session.close().trace if record.reaction == "Alarm.hear")
    assert 0 < first.tag.time < FAR
    assert second.tag == Tag(FAR, 2)


@pytest.mark.parametrize("value", [7, ABSENT])
def test_an_event_from_a_thread_during_a_step_is_for_the_next(opened: Opened, monkeypatch, value) -> None:
    reach = Coordinator.reach

    def interrupted(coordinator: Coordinator, *arguments: Any) -> bool:
        ended = reach(coordinator, *arguments)
        coordinator.inbox.schedule(next(event for event in coordinator.events if event.path == "Alarm.ring"), 0, None)
        return ended

    with opened(Alarm) as session:
        step = session.stepper(("inp",), ("echo",))
        step(0, until=FAR)
        with monkeypatch.context() as patched:
            patched.setattr(Coordinator, "reach", interrupted)
            for number in range(1, 5):
                assert step(value, until=FAR + number * MSEC) == value
                assert session.tag == Tag(FAR + number * MSEC, 0)
    assert len([record for record in session.close().trace if record.reaction == "Alarm.hear"]) == 4


class Held(Reactor):
    """Answers once the event of its input is set. For threads."""

    inp, out = Input[Any](), Output[int]()

    @reaction(inp, effects=out)
    def wait(self, inp, out) -> None:
        if isinstance(inp.value, threading.Event):
            assert inp.value.wait(20)
        out.set(1)


class Waits(Reactor):
    inp, out = Input[Any](), Output[int](width=2)

    def __init__(self) -> None:
        self.held = Bank(Held, 2)
        connect(self.inp, self.held[1].inp)
        connect(self.held.out, self.out)


def test_the_caller_goes_on_while_other_workers_run_their_parts() -> None:
    with Session(Waits, executor="threads", workers=2) as session:
        step, event = session.stepper(("inp",), ("out",)), threading.Event()
        step.begin(event)
        event.set()  # the worker waits for what the caller does meanwhile
        assert step.finish(timeout=20) == [ABSENT, 1]


@pytest.mark.parametrize("then", ["finish", "close"])
def test_a_step_that_takes_too_long_goes_on_and_is_finished_later(then: str) -> None:
    session = Session(Waits, executor="threads", workers=2)
    with session:
        step, event = session.stepper(("inp",), ("out",)), threading.Event()
        step.begin(event)
        for _ in range(2):
            with pytest.raises(TimeoutError, match=r"0.01 s"):
                step.finish(timeout=0.01)
        with pytest.raises(RunError, match=r"has begun: finish\(\)"):
            step(event)
        event.set()
        if then == "finish":
            assert step.finish(timeout=20) == [ABSENT, 1]
            assert step(None) == [ABSENT, 1]
    assert session.closed


LINKS = 40  # more than a worker may be sent before it listens


class Ear(Reactor):
    word, inp = Input[Any](), Input[Any]()
    out = Output[Any]()

    @reaction(word, inp, effects=out)
    def hear(self, word, inp, out) -> None:
        if self.bank_index == 0:
            sleep(0.3)
        if self.bank_index == LINKS - 1 and word.value == "fail":
            raise ValueError("as asked")
        out.set(word.value)


class Words(Reactor):
    """A chain that tells another chain a word at each of its links, whose first is slow."""

    inp, out = Input[Any](), Output[Any]()

    def __init__(self) -> None:
        self.words, self.ears = Bank(Relay, LINKS, quiet=True), Bank(Ear, LINKS)
        connect(self.inp, self.words[0].inp)
        connect(self.words.out, self.ears.word)
        for link in range(LINKS - 1):
            connect(self.words[link].out, self.words[link + 1].inp)
            connect(self.ears[link].out, self.ears[link + 1].inp)
        connect(self.ears[LINKS - 1].out, self.out)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_step_that_takes_too_long_is_not_broken_off_while_it_sends(executor: str) -> None:
    placement = {f"Words.{bank}[{link}]": bank == "ears" for bank in ("words", "ears") for link in range(LINKS)}
    with Session(Words, executor=executor, workers=2, placement=placement) as session:
        step = session.stepper(("inp",), ("out",))

        def finished() -> Any:
            for _ in range(10_000):
                with suppress(TimeoutError):
                    return step.finish(timeout=0.001)
            raise AssertionError("the step never ends")

        for word in "one", "two":
            step.begin(word)
            assert finished() == word
        step.begin("fail")
        with pytest.raises(ReactionError) as caught:
            finished()
        assert (caught.value.reactor, caught.value.reaction) == (f"Words.ears[{LINKS - 1}]", "hear")


@pytest.mark.parametrize("begins", [False, True], ids=["at once", "begun"])
def test_an_error_that_stop_iteration_caused_is_that_of_its_reaction(opened: Opened, begins: bool) -> None:
    class Fails(Reactor):
        inp = Input[int]()

        @reaction(inp)
        def hear(self, _inp: Any) -> None:
            def empty() -> Iterator[int]:
                yield next(iter(()))

            next(empty())

    with opened(Fails) as session:
        step = session.stepper(("inp",), ())
        if begins:
            step.begin(1)
        with pytest.raises(ReactionError, match="hear raised RuntimeError") as caught:
            step.finish() if begins else step(1)
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_finish_without_begin_is_refused(opened: Opened) -> None:
    with opened(Farm) as session:
        step = session.stepper(("every",), ())
        for finish in (session.finish, step.finish):
            with pytest.raises(RunError, match="has begun"):
                finish()
        step.begin(1)
        with pytest.raises(RunError, match="of this stepper has begun"):
            session.stepper(("every",), ()).finish()
        assert session.finish() == ()


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        (lambda s: s.step(evry=1), r"Farm .*'evry': did you mean 'every'\?"),
        (lambda s: s.step(sums=1), "Farm has no input 'sums'"),
        (lambda s: s.stepper(("every",), ("every",)), "Farm has no output 'every'"),
        (lambda s: s.stepper(("every",), ())(), r"\(every\), got 0"),
        (lambda s: s.stepper((), ())(1), r"\(none\), got 1"),
        (lambda s: s.step(own=1), r"Farm.own takes a list of 2 .* got 1"),
        (lambda s: s.step(own=[1]), r"Farm.own takes a list of 2 .* got \[1\]"),
    ],
)
def test_a_wrong_call_is_refused_and_the_session_stays_open(opened: Opened, act: Any, fault: str) -> None:
    with opened(Farm) as session:
        with pytest.raises(RunError, match=fault):
            act(session)
        assert session.step(every=1)["echo"] == 1


def test_options_are_checked_as_those_of_run() -> None:
    with pytest.raises(RunError, match="'inlin'"):
        Session(Farm, executor="inlin")
    with pytest.raises(RunError, match=r"exeutor= .*Session.* did you mean executor="):
        Session(Farm, exeutor="inline")
    with pytest.raises(ElaborationError):
        Session(Delayed, after=-1)


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


def test_stop_iteration_in_a_reaction_is_its_error(opened: Opened) -> None:
    session = opened(acting(lambda: next(iter(()))))
    session.begin(inp=1)
    with pytest.raises(ReactionError) as raised:
        session.finish()
    assert (raised.value.reactor, raised.value.reaction) == ("Acting", "act")


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
        for call in (session.step, session.begin, session.finish, session.close, lambda: Session(Farm)):
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

"""Programs that are driven from outside: what a step is, what it returns, how a session ends."""

import multiprocessing
import threading
from contextlib import suppress
from time import sleep
from typing import Any

import pytest

from reactorlib import (
    ABSENT,
    MSEC,
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
    logical_elapsed,
    reaction,
)
from reactorlib.errors import ElaborationError, ReactionError, RunError
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.inbox import CROWD
from tests.reactorlib.conformance.reactors import Relay
from tests.reactorlib.conformance.sessions import FAR, Doubler, Farm, Opened


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
        assert type(session.tag.time) is int
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


def test_a_kill_that_is_interrupted_leaves_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(Words, executor="processes", workers=2)
    kill, calls = session._execution.executor.kill, []

    def interrupted() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyboardInterrupt
        kill()

    monkeypatch.setattr(session._execution.executor, "kill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.kill()
    assert multiprocessing.active_children() == []


class Hurried(Reactor):
    """Schedules many physical actions at once."""

    act, inp, out = PhysicalAction[int](), Input[Any](), Output[int]()

    @reaction(inp, effects=act)
    def begin(self, inp, act) -> None:
        for number in range(2 * CROWD):
            act.schedule(value=number)

    @reaction(act, effects=out)
    def hear(self, act, out) -> None:
        out.set(act.value)


def test_the_loop_s_own_thread_is_not_slowed_down_where_actions_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reactorlib.worker.inbox.sleep", lambda _: pytest.fail("a reaction sleeps"))
    with Session(Hurried) as session:
        session.step(inp=1, until=FAR)
        assert [session.step()["out"] for _ in range(3)] == [0, 1, 2]


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
    with pytest.raises(RunError, match=r"Session\(\) has no option exeutor, .*: did you mean executor"):
        Session(Farm, exeutor="inline")
    with pytest.raises(ElaborationError):
        Session(Delayed, after=-1)

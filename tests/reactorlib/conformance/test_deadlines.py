"""Row "deadline"."""

from typing import Any

import pytest

from reactorlib import (
    HOUR,
    MSEC,
    NSEC,
    SEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    ReactionError,
    Reactor,
    State,
    Timer,
    check_deadline,
    connect,
    elaborate,
    physical_elapsed,
    reaction,
    run,
    shutdown,
    startup,
    update_deadline,
)
from tests.reactorlib.conformance.reactors import Pair, Relay, Working, noted
from tests.reactorlib.observing import Execute, reactions, steps, values

FAR = 1_000_000 * SEC


class Zero(Reactor):
    tick = Timer(offset=0, period=5 * SEC)
    act = LogicalAction[int]()
    out = Output[str]()

    @reaction(tick, uses=act, effects=[act, out], deadline=0)
    def in_time(self, tick, act, out):
        out.set("in time")

    @in_time.missed
    def late(self, tick, act, out):
        out.set("late")
        act.schedule(value=1)

    @reaction(act, effects=out)
    def after(self, act, out):
        out.set("after")


def test_deadline_zero_is_always_missed_and_the_handler_runs_instead(execute: Execute) -> None:
    """In fast mode too, where logical time is ahead of the wall clock; with the body's arguments and effects."""
    assert steps(execute(Zero, timeout=5 * SEC)) == [
        (0, 0, "Zero.in_time", ("Zero.out", "late")),
        (0, 1, "Zero.after", ("Zero.out", "after")),
        (5 * SEC, 0, "Zero.in_time", ("Zero.out", "late")),
    ]


class Dated(Reactor):
    """Reports whether it is in time, whether its deadline has passed by then, and its input."""

    inp = Input[Any]()
    tick = Timer(offset="offset", period="period")
    out = Output[tuple]()

    def __init__(self, deadline: int = FAR, offset: int = 0, period: int = 0): ...

    @reaction(tick, inp, effects=out, deadline="deadline")
    def act(self, tick, inp, out):
        out.set(("in time", check_deadline(), inp.value))

    @act.missed
    def late(self, tick, inp, out):
        out.set(("late", check_deadline(), inp.value))


IN_TIME, LATE = ("in time", False, None), ("late", True, None)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"period": MSEC, "timeout": 2 * MSEC, "fast": False}, [IN_TIME] * 3, id="far away"),
        pytest.param({"period": MSEC, "timeout": 2 * MSEC}, [IN_TIME] * 3, id="far away, fast"),
        pytest.param({"period": 5 * SEC, "timeout": 60 * SEC, "deadline": 0}, [LATE] * 13, id="zero"),
        pytest.param({"timeout": 0, "deadline": 1 * NSEC, "fast": False}, [LATE], id="missed"),
    ],
)
def test_deadline_is_kept_or_missed_and_check_deadline_agrees_at_every_tag(execute: Execute, options, expected) -> None:
    assert values(execute(Dated, **options), "Dated.out") == expected


def test_deadline_is_checked_just_before_the_invocation_and_counts_from_its_tag(execute: Execute) -> None:
    result = execute(Pair, source=Working, reader=lambda: Dated(2 * MSEC, offset=10 * SEC))
    assert values(result, "Pair.reader.out") == [("late", True, 1), ("in time", False, 1)]


@pytest.mark.parametrize("fast", [False, True])
def test_deadline_is_missed_because_of_an_earlier_reaction_of_its_reactor(execute: Execute, fast: bool) -> None:
    class Busy(Working):
        told = Output[str]()

        @reaction(startup, effects=told, deadline=2 * MSEC)
        def act(self, told):
            told.set("in time")

        @act.missed
        def late(self, told):
            told.set("late")

    assert values(execute(Busy, fast=fast), "Busy.told") == ["late"]


class Urgency(Reactor):
    def __init__(self):
        self.none, self.slow, self.quick, self.now = Relay(), Dated(2 * FAR), Dated(FAR), Dated(0)


class Urgent(Reactor):
    inp = Input[int]()
    act = noted(inp, deadline=FAR)


class Inferred(Reactor):
    """The chain to the urgent reaction goes before the chain declared first, level for level."""

    def __init__(self):
        self.calm, self.calmer = Relay(), Relay()
        self.first, self.second, self.urgent = Relay(), Relay(), Urgent()
        connect(self.calm.out, self.calmer.inp)
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.urgent.inp)


class Mixed(Reactor):
    before, urgent, after = noted(startup), noted(startup, deadline=FAR), noted(startup)


class OwnOrder(Reactor):
    def __init__(self):
        self.calm, self.mixed = Relay(), Mixed()


class Delayed(Reactor):
    """A delay ends the inference: the source is no more urgent than any other."""

    def __init__(self):
        self.calm, self.source, self.urgent = Relay(), Relay(), Urgent()
        connect(self.source.out, self.urgent.inp, after=1 * MSEC)


@pytest.mark.parametrize(
    ("main", "order"),
    [
        pytest.param(Urgency, "now.act quick.act slow.act none.step", id="none is last"),
        pytest.param(Inferred, "first.step second.step urgent.act calm.step calmer.step", id="inferred upstream"),
        pytest.param(OwnOrder, "mixed.before mixed.urgent calm.step mixed.after", id="along the order of a reactor"),
        pytest.param(Delayed, "calm.step source.step urgent.act", id="not inferred through a delay"),
    ],
)
def test_earliest_deadline_goes_first(execute: Execute, main: type[Reactor], order: str) -> None:
    assert [step[2].partition(".")[2] for step in reactions(execute(main))] == order.split()


def test_check_deadline_tells_whether_it_has_passed_by_now(path: str) -> None:
    class Overrunning(Reactor):
        out = Output[tuple]()

        @reaction(startup, effects=out, deadline=100 * MSEC)
        def act(self, out):
            before = check_deadline()
            while physical_elapsed() < 101 * MSEC:
                pass
            out.set((before, check_deadline()))

        @act.missed
        def late(self, out):
            out.set("started late")

    for _ in range(5):  # a machine under load may start the reaction too late
        [outcome] = values(run(Overrunning, trace=True), "Overrunning.out")
        if outcome != "started late":
            break
    assert outcome == (False, True)


def test_a_subclass_may_redefine_the_handler_by_a_method_without_a_decorator(execute: Execute) -> None:
    class Earlier(Zero):
        def late(self, tick, act, out):
            out.set("later still")

    class NoHandler(Zero):
        late = None  # type: ignore[assignment]  # nothing runs

    assert values(execute(Earlier, timeout=0), "Earlier.out") == ["later still"]
    assert values(execute(Zero, timeout=0), "Zero.out") == ["late"]
    assert values(execute(NoHandler, timeout=0), "NoHandler.out") == []
    with pytest.raises(TypeError, match=r"Zero.in_time .*a subclass, a method with the name"):

        class Redecorated(Zero):
            @Zero.in_time.missed
            def late(self, tick, act, out): ...


class Failing(Reactor):
    """Fails at a tag at which its schedule is compiled, late or in time."""

    tick = Timer(offset=0, period=1 * MSEC)

    def __init__(self, deadline: int, tags: int):
        self.left = tags

    @reaction(tick, deadline="deadline")
    def act(self, tick):
        self.left -= 1
        if not self.left:
            raise ValueError("fails")

    @act.missed
    def late(self, tick):
        self.act(tick)


class Onlooker(Reactor):
    @reaction(shutdown)
    def end(self):
        raise ValueError(f"deadline has passed: {check_deadline()}")


class Watched(Reactor):
    def __init__(self, deadline: int, tags: int):
        self.failing = Failing(deadline, tags)
        self.onlookers = Bank(Onlooker, 5)


def raised_too(error: BaseException) -> list[str]:
    """The notes about errors of shutdown reactions. On processes there is a traceback beside them."""
    return [note for note in getattr(error.__cause__, "__notes__", []) if "raised too" in note]


@pytest.mark.parametrize("tags", [1, 5])
@pytest.mark.parametrize("deadline", [0, 1 * NSEC])
def test_no_deadline_is_left_when_its_reaction_has_raised(execute: Execute, deadline: int, tags: int) -> None:
    with pytest.raises(ReactionError) as caught:
        execute(Watched, deadline=deadline, tags=tags, timeout=20 * MSEC, fast=False)
    assert [note.rpartition(": ")[2] for note in raised_too(caught.value)] == ["False"] * 5


def test_shutdown_reactions_of_a_failed_run_run_however_late_it_is(execute: Execute) -> None:
    class Last(Reactor):
        @reaction(shutdown, deadline=0)
        def end(self):
            update_deadline(FAR)
            raise ValueError("in any case")

        @end.missed
        def late(self):
            raise ValueError("late")

    class Ending(Reactor):
        """Fails, or not, and has a shutdown reaction that is always late."""

        def __init__(self, fails: bool):
            self.failing, self.last = Failing(FAR, 1 if fails else 5), Last()

    with pytest.raises(ReactionError, match="late"):
        execute(Ending, fails=False, timeout=2 * MSEC)
    with pytest.raises(ReactionError) as caught:
        execute(Ending, fails=True)
    [note] = raised_too(caught.value)
    assert "Ending.last.end" in note
    assert "in any case" in note


def test_a_reaction_changes_its_deadline_until_the_end_of_the_run(execute: Execute) -> None:
    class Adaptive(Dated):
        """Its deadline is missed until its handler says otherwise at the fourth tag, and again from the ninth."""

        def __init__(self, deadline: int = 0, offset: int = 0, period: int = 1 * MSEC):
            self.tags = 0

        @reaction("tick", "inp", effects="out", deadline="deadline")
        def act(self, tick, inp, out):
            self.tags += 1
            if self.tags == 9:
                update_deadline(0)
            out.set(("in time", check_deadline(), None))

        @act.missed
        def late(self, tick, inp, out):
            self.tags += 1
            if self.tags == 4:
                update_deadline(FAR)
            out.set(("late", check_deadline(), None))

    class Adaptives(Reactor):
        def __init__(self):
            self.adaptive, self.same, self.other = Adaptive(), Adaptive(), Dated(0, period=1 * MSEC)

    program = elaborate(Adaptives)
    for _ in range(2):
        result = execute(program, timeout=11 * MSEC)
        for name in ("adaptive", "same"):
            told = [LATE] * 3 + [("late", False, None)] + [IN_TIME] * 4 + [("in time", True, None)] + [LATE] * 3
            assert values(result, f"Adaptives.{name}.out") == told
        assert values(result, "Adaptives.other.out") == [LATE] * 12


def test_a_check_may_invoke_the_handler_once(execute: Execute) -> None:
    class GivingUp(Reactor):
        """The body finds itself too late at odd tags; the handler, once at such a tag, takes its place."""

        tick = Timer(offset=0, period=1 * MSEC)
        tags, said = State(0), State(list)
        out = Output[list](width=2)

        @reaction(tick, effects=out, deadline=FAR)
        def act(self, tick, out):
            self.tags += 1
            self.said = []
            update_deadline(FAR * (self.tags % 2))
            if check_deadline(invoke_handler=True):
                self.said.append(check_deadline(invoke_handler=True))
                out[0].set(self.said)
                update_deadline(FAR)
                return
            out[0].set("in time")

        @act.missed
        def late(self, tick, out):
            self.said.append(check_deadline(invoke_handler=True))
            out[1].set(("late", tick.is_present))

        @reaction(tick, effects=out)
        def without(self, tick, out):
            assert not check_deadline(invoke_handler=True)

    result = execute(GivingUp, timeout=7 * MSEC)
    assert values(result, "GivingUp.out[0]") == ["in time", [True, True]] * 4
    assert values(result, "GivingUp.out[1]") == [("late", True)] * 4


def test_a_check_without_a_handler_only_answers(execute: Execute) -> None:
    class Handlerless(Reactor):
        out = Output[bool]()

        @reaction(startup, effects=out, deadline=FAR)
        def act(self, out):
            update_deadline(0)
            out.set(check_deadline(invoke_handler=True))

    assert values(execute(Handlerless), "Handlerless.out") == [True]


@pytest.mark.parametrize(
    ("deadline", "roles", "fault"),
    [(1 * HOUR, {}, r"Updating\.act.*has no deadline"), (5, {"deadline": FAR}, r"update_deadline\(\): .*5 \* NSEC")],
)
def test_update_deadline_wants_a_deadline_to_update_and_a_time(execute: Execute, deadline, roles, fault) -> None:
    class Updating(Reactor):
        @reaction(startup, **roles)
        def act(self):
            update_deadline(deadline)

    with pytest.raises(ReactionError, match=fault):
        execute(Updating)

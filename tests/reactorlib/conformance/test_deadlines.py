"""Row "deadline"."""

import time

import pytest

from reactorlib import (
    HOUR,
    MSEC,
    NSEC,
    SEC,
    Bank,
    ElaborationError,
    Input,
    LogicalAction,
    Output,
    ReactionError,
    Reactor,
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


class Far(Reactor):
    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[str]()

    @reaction(tick, effects=out, deadline="deadline")
    def in_time(self, tick, out):
        out.set("in time")

    @in_time.missed
    def late(self, tick, out):
        out.set("late")

    def __init__(self, deadline: int = FAR):
        pass


class AfterSleep(Reactor):
    tick = Timer(offset=10 * SEC)
    out = Output[str]()

    @reaction(startup)
    def sleep(self):
        time.sleep(0.02)

    @reaction(tick, effects=out, deadline=1 * MSEC)
    def in_time(self, tick, out):
        out.set("in time")

    @in_time.missed
    def late(self, tick, out):
        out.set("late")


def test_deadline_counts_from_its_tag_and_not_from_the_start(execute: Execute) -> None:
    assert values(execute(AfterSleep, fast=True), "AfterSleep.out") == ["in time"]


@pytest.mark.parametrize("fast", [False, True])
def test_deadline_far_away_is_kept(execute: Execute, fast: bool) -> None:
    assert values(execute(Far, timeout=2 * MSEC, fast=fast), "Far.out") == ["in time"] * 3


class Busy(Reactor):
    """The first reaction takes 5 ms, which the second does not have."""

    out = Output[str]()

    @reaction(startup)
    def work(self):
        while physical_elapsed() < 5 * MSEC:
            pass

    @reaction(startup, effects=out, deadline=2 * MSEC)
    def act(self, out):
        out.set("in time")

    @act.missed
    def late(self, out):
        out.set("late")


class Elsewhere(Reactor):
    """The same over a port, so that the deadline must be looked at just before the invocation."""

    def __init__(self):
        self.worker, self.actor = Worker(), Actor()
        connect(self.worker.out, self.actor.inp)


class Worker(Reactor):
    out = Output[int]()

    @reaction(startup, effects=out)
    def work(self, out):
        while physical_elapsed() < 5 * MSEC:
            pass
        out.set(1)


class Actor(Reactor):
    inp = Input[int]()
    out = Output[str]()

    @reaction(inp, effects=out, deadline=2 * MSEC)
    def act(self, inp, out):
        out.set("in time")

    @act.missed
    def late(self, inp, out):
        out.set(f"late {inp.value}")


@pytest.mark.parametrize("fast", [False, True])
def test_deadline_is_checked_just_before_the_invocation(execute: Execute, fast: bool) -> None:
    assert values(execute(Busy, fast=fast), "Busy.out") == ["late"]
    assert values(execute(Elsewhere, fast=fast), "Elsewhere.actor.out") == ["late 1"]


class Prompt(Reactor):
    tick = Timer(offset=0)
    out = Output[str]()

    @reaction(tick, effects=out, deadline="deadline")
    def act(self, tick, out):
        out.set("in time")

    @act.missed
    def late(self, tick, out):
        out.set("late")

    def __init__(self, deadline: int):
        pass


class Urgency(Reactor):
    """Independent reactions, declared in another order than that of their deadlines."""

    def __init__(self):
        self.none, self.slow, self.quick = Plain(), Prompt(2 * FAR), Prompt(FAR)
        self.now = Prompt(0)


class Plain(Reactor):
    @reaction(startup)
    def act(self): ...


def test_earliest_deadline_goes_first_and_none_is_last(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Urgency))] == [
        "Urgency.now.act",
        "Urgency.quick.act",
        "Urgency.slow.act",
        "Urgency.none.act",
    ]


class Stage(Reactor):
    inp = Input[int]()
    out = Output[int]()

    @reaction(startup, inp, effects=out)
    def step(self, inp, out):
        out.set(1)


class Urgent(Reactor):
    inp = Input[int]()

    @reaction(inp, deadline=FAR)
    def act(self, inp): ...


class Inferred(Reactor):
    """The chain to the urgent reaction goes before the chain declared first, level for level."""

    def __init__(self):
        self.calm, self.calmer = Stage(), Stage()
        self.first, self.second, self.urgent = Stage(), Stage(), Urgent()
        connect(self.calm.out, self.calmer.inp)
        connect(self.first.out, self.second.inp)
        connect(self.second.out, self.urgent.inp)


def test_deadline_is_inferred_upstream(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Inferred))] == [
        "Inferred.first.step",
        "Inferred.second.step",
        "Inferred.urgent.act",
        "Inferred.calm.step",
        "Inferred.calmer.step",
    ]


class OwnOrder(Reactor):
    """What stands before an urgent reaction in its reactor is as urgent."""

    def __init__(self):
        self.calm, self.mixed = Plain(), Mixed()


class Mixed(Reactor):
    @reaction(startup)
    def before(self): ...

    @reaction(startup, deadline=FAR)
    def urgent(self): ...

    @reaction(startup)
    def after(self): ...


def test_deadline_is_inferred_along_the_order_of_one_reactor(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(OwnOrder))] == [
        "OwnOrder.mixed.before",
        "OwnOrder.mixed.urgent",
        "OwnOrder.calm.act",
        "OwnOrder.mixed.after",
    ]


class Delayed(Reactor):
    """A delay ends the inference: the source is no more urgent than any other."""

    def __init__(self):
        self.calm, self.source, self.urgent = Stage(), Stage(), Urgent()
        connect(self.source.out, self.urgent.inp, after=1 * MSEC)


def test_deadline_is_not_inferred_through_a_delay(execute: Execute) -> None:
    assert [step[2] for step in reactions(execute(Delayed))] == [
        "Delayed.calm.step",
        "Delayed.source.step",
        "Delayed.urgent.act",
    ]


class Checking(Reactor):
    out = Output[tuple]()

    @reaction(startup, effects=out, deadline=5 * SEC)
    def patient(self, out):
        out.set(check_deadline())

    @patient.missed
    def impatient(self, out):
        out.set("missed")

    @reaction(startup, effects=out, deadline=20 * SEC)
    def later(self, out):
        out.set("later")


class Overrunning(Reactor):
    """The deadline passes while the body runs: it is told when it asks."""

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


def test_check_deadline_tells_whether_it_has_passed_by_now(path: str) -> None:
    assert values(run(Checking, fast=True, trace=True), "Checking.out") == [False, "later"]
    for _ in range(5):  # a machine under load may start the reaction too late
        [outcome] = values(run(Overrunning, trace=True), "Overrunning.out")
        if outcome != "started late":
            break
    assert outcome == (False, True)


class Earlier(Zero):
    def late(self, tick, act, out):
        out.set("later still")


class NoHandler(Zero):
    late = None  # type: ignore[assignment]  # what is refused


def test_a_subclass_may_redefine_the_handler(execute: Execute) -> None:
    assert values(execute(Earlier, timeout=0), "Earlier.out") == ["later still"]
    assert values(execute(Zero, timeout=0), "Zero.out") == ["late"]


def test_a_handler_is_redefined_by_a_method_without_a_decorator() -> None:
    with pytest.raises(ElaborationError, match=r"NoHandler.late overrides the handler of in_time's missed deadline"):
        elaborate(NoHandler)
    with pytest.raises(TypeError, match=r"Zero.in_time is complete: in a subclass, a method with the name"):

        class Redecorated(Zero):
            @Zero.in_time.missed
            def late(self, tick, act, out): ...


class Asking(Reactor):
    """The handlers of missed deadlines ask; logical time is ahead of the wall clock for one, behind for the other."""

    tick = Timer(offset=0, period=5 * SEC)
    out = Output[tuple]()

    def __init__(self, deadline: int):
        pass

    @reaction(tick, effects=out, deadline="deadline")
    def act(self, tick, out): ...

    @act.missed
    def late(self, tick, out):
        out.set((tick.is_present, check_deadline()))


def test_check_deadline_is_true_in_the_handler_of_a_missed_one_at_every_tag(execute: Execute) -> None:
    assert values(execute(Asking, deadline=0, timeout=60 * SEC), "Asking.out") == [(True, True)] * 13
    assert values(execute(Asking, deadline=1 * NSEC, timeout=0, fast=False), "Asking.out") == [(True, True)]


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
    """What shutdown reactions raised; on processes there is a traceback beside."""
    return [note for note in getattr(error.__cause__, "__notes__", []) if "raised too" in note]


@pytest.mark.parametrize("tags", [1, 5])
@pytest.mark.parametrize("deadline", [0, 1 * NSEC])
def test_no_deadline_is_left_when_its_reaction_has_raised(execute: Execute, deadline: int, tags: int) -> None:
    with pytest.raises(ReactionError) as caught:
        execute(Watched, deadline=deadline, tags=tags, timeout=20 * MSEC, fast=False)
    assert [note.rpartition(": ")[2] for note in raised_too(caught.value)] == ["False"] * 5


class Adaptive(Reactor):
    """Its deadline is always missed until its handler says otherwise at the fourth tag, and again from the ninth."""

    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[tuple]()

    def __init__(self):
        self.tags = 0

    @reaction(tick, effects=out, deadline=0)
    def act(self, tick, out):
        self.tags += 1
        if self.tags == 9:
            update_deadline(0)
        out.set(("in time", check_deadline()))

    @act.missed
    def late(self, tick, out):
        self.tags += 1
        if self.tags == 4:
            update_deadline(FAR)
        out.set(("late", check_deadline()))


class Adaptives(Reactor):
    """The deadline of one reactor is not that of another of its class."""

    def __init__(self):
        self.adaptive, self.same, self.other = Adaptive(), Adaptive(), Stubborn()


class Stubborn(Adaptive):
    def late(self, tick, out):
        out.set(("late", check_deadline()))


def test_a_reaction_changes_its_deadline(execute: Execute) -> None:
    result = execute(Adaptives, timeout=11 * MSEC)
    for name in ("adaptive", "same"):
        assert values(result, f"Adaptives.{name}.out") == [
            *[("late", True)] * 3,
            ("late", False),
            *[("in time", False)] * 4,
            ("in time", True),
            *[("late", True)] * 3,
        ]
    assert values(result, "Adaptives.other.out") == [("late", True)] * 12


def test_a_changed_deadline_ends_with_the_run(path: str) -> None:
    program = elaborate(Adaptive)
    first, second = (run(program, timeout=5 * MSEC, fast=True, trace=True) for _ in range(2))
    assert first.digest == second.digest


class GivingUp(Reactor):
    """The body finds itself too late at odd tags; the handler, once at such a tag, takes its place."""

    tick = Timer(offset=0, period=1 * MSEC)
    out = Output[list](width=2)

    def __init__(self):
        self.tags, self.said = 0, []

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


def test_a_check_may_invoke_the_handler_once(execute: Execute) -> None:
    result = execute(GivingUp, timeout=7 * MSEC)
    assert values(result, "GivingUp.out[0]") == ["in time", [True, True]] * 4
    assert values(result, "GivingUp.out[1]") == [("late", True)] * 4


class Handlerless(Reactor):
    out = Output[bool]()

    @reaction(startup, effects=out, deadline=FAR)
    def act(self, out):
        update_deadline(0)
        out.set(check_deadline(invoke_handler=True))


def test_a_check_without_a_handler_only_answers(execute: Execute) -> None:
    assert values(execute(Handlerless), "Handlerless.out") == [True]


class Undated(Reactor):
    @reaction(startup)
    def act(self):
        update_deadline(1 * HOUR)


class Bare(Reactor):
    @reaction(startup, deadline=FAR)
    def act(self):
        update_deadline(5)


def test_update_deadline_wants_a_deadline_to_update_and_a_time(execute: Execute) -> None:
    with pytest.raises(ReactionError, match=r"Undated\.act.*the running reaction has no deadline: declare it with one"):
        execute(Undated)
    with pytest.raises(ReactionError, match=r"update_deadline\(\): deadline must have a unit: 5 \* NSEC"):
        execute(Bare)


class Ending(Reactor):
    """Fails, or not, and has a shutdown reaction that is always late."""

    def __init__(self, fails: bool):
        self.failing, self.last = Failing(FAR, 1 if fails else 5), Last()


class Last(Reactor):
    @reaction(shutdown, deadline=0)
    def end(self):
        update_deadline(FAR)
        raise ValueError("in any case")

    @end.missed
    def late(self):
        raise ValueError("late")


def test_shutdown_reactions_of_a_failed_run_run_however_late_it_is(execute: Execute) -> None:
    with pytest.raises(ReactionError, match="late"):
        execute(Ending, fails=False, timeout=2 * MSEC)
    with pytest.raises(ReactionError) as caught:
        execute(Ending, fails=True)
    assert raised_too(caught.value) == ["Ending.last.end raised too: ValueError: in any case"]

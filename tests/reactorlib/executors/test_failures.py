"""A reaction raises on one worker or on several: one error, the same every time, equal to that of one worker."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

import pytest

from reactorlib import (
    Bank,
    Input,
    ReactionError,
    Reactor,
    Session,
    WorkerError,
    connect,
    reaction,
    run,
    shutdown,
    startup,
)
from reactorlib.executors.processes import reaped
from tests.choice import first
from tests.reactorlib.conformance.reactors import Members
from tests.reactorlib.executors.programs import ON_EACH_ITS_OWN, Chain, Hub, Leaf, Star, WordlessError, note, noted

# An order of events that occurs now and then occurs in one of these repetitions.
REPETITIONS = pytest.mark.parametrize("repetitions", first(1, [1, 5], "repetition in search of races"))

FAULTS = {
    "worker 0": {"leaf 0": (5, "raise")},
    "worker 1": {"leaf 1": (5, "raise")},
    "workers 0 and 1": {"leaf 0": (5, "raise"), "leaf 1": (5, "raise")},
    "workers 1 and 2": {"leaf 1": (5, "raise"), "leaf 2": (5, "raise")},
    "all workers": {"leaf 0": (5, "raise"), "leaf 1": (5, "raise"), "leaf 2": (5, "raise")},
    "the hub": {"hub": (5, "raise")},
    "the hub after a leaf": {"hub": (6, "raise"), "leaf 2": (5, "raise")},
    "startup on worker 1": {"leaf 1": ("startup", "raise")},
    "startup on workers 0 and 2": {"leaf 0": ("startup", "raise"), "leaf 2": ("startup", "raise")},
    "shutdown on worker 1": {"leaf 1": ("shutdown", "raise")},
    "all that is left after a failure": {"hub": (5, "raise"), "leaf 0": ("shutdown", "raise"),
                                         "leaf 1": ("shutdown", "raise")},
}  # fmt: skip


def ends(log, faults, **options):
    """The error of a run of Star, and which shutdown reactions ran."""
    before = len(noted(log))
    with pytest.raises(ReactionError) as caught:
        run(Star, log=log, faults=faults, fast=True, **options)
    error = caught.value
    ended = sorted(line for line in noted(log)[before:] if line.endswith("ended"))
    cause = error.__cause__
    notes = sorted(note for note in getattr(cause, "__notes__", ()) if "raised too" in note)
    return str(error), error.reactor, error.reaction, error.tag, type(cause), str(cause), notes, ended


@REPETITIONS
@pytest.mark.parametrize("where", FAULTS)
def test_the_error_is_that_of_one_worker_every_time(executor, where, repetitions, log, soon):
    expected = ends(log, FAULTS[where])
    for _ in range(repetitions):
        with soon():
            got = ends(log, FAULTS[where], executor=executor, workers=3, placement=ON_EACH_ITS_OWN)
        assert got == expected


@pytest.mark.parametrize("executor", ["inline", "threads", "processes"])
def test_the_first_error_stays_the_first_whatever_shutdown_raises(executor, log, soon):
    faults = {"hub": (5, "raise"), "leaf 0": ("shutdown", "exit"), "leaf 2": ("shutdown", "exit")}
    with soon():
        *_, kind, _, notes, ended = ends(log, faults, executor=executor, workers=3, placement=ON_EACH_ITS_OWN)
    assert (kind, len(notes)) == (ValueError, 2)
    assert ended == ["leaf 0 ended", "leaf 1 ended", "leaf 2 ended"]


@pytest.mark.parametrize("failing", [(0,), (3,), (1, 2), (2, 3), (0, 1, 2, 3)], ids=str)
@pytest.mark.parametrize("workers", [2, 4])
@REPETITIONS
def test_whoever_waits_for_a_value_that_will_not_come_ends(executor, failing, workers, repetitions, log, soon):
    placement = {f"Chain.link[{number}]": (number + 1) % workers for number in range(4)}
    for _ in range(repetitions):
        before = len(noted(log))
        with soon(), pytest.raises(ReactionError, match=f"link failed at {failing[0]}") as caught:
            run(Chain, log=log, failing=failing, executor=executor, workers=workers, placement=placement)
        assert caught.value.reactor == f"Chain.link[{failing[0]}]"
        assert noted(log)[before:] == ["link ended"] * 3


@pytest.mark.parametrize("where", ["hub", "leaf 0", "leaf 1"])
def test_sys_exit_in_a_reaction_ends_the_run_as_on_one_worker(executor, where, log, soon):
    with soon(), pytest.raises(SystemExit) as caught:
        run(Star, log=log, faults={where: (4, "exit")}, executor=executor, workers=3, placement=ON_EACH_ITS_OWN)
    assert caught.value.code == 3
    assert [line for line in sorted(noted(log)) if "ended" in line] == [
        "hub ended", "leaf 0 ended", "leaf 1 ended", "leaf 2 ended"]  # fmt: skip


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("raise", ValueError, "leaf 1 failed"),
        ("raise unportable", RuntimeError, "UnportableError: leaf 1"),
        ("raise native", RuntimeError, ": leaf 1"),
    ],
)
def test_an_exception_of_another_process_has_its_traceback_and_its_words(how, kind, words, log, soon):
    options = {"faults": {"leaf 1": (3, how)}, "workers": 3, "placement": ON_EACH_ITS_OWN}
    with soon(), pytest.raises(ReactionError, match=r"Star.leaf\[1\].answer raised .*: leaf 1 failed") as caught:
        run(Star, log=log, executor="processes", **options)
    cause = caught.value.__cause__
    assert isinstance(cause, kind)
    assert words in str(cause)
    (told,) = cause.__notes__
    assert "in go_wrong" in told
    assert "in answer" in told
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("kind", ["unportable", "native", "two arguments", "repeating"])
def test_an_exception_that_cannot_travel_is_told_as_on_one_worker(executor, kind, log, soon):
    faults = {"leaf 1": (3, f"raise {kind}")}
    told = ends(log, faults)[:4]
    with soon():
        assert ends(log, faults, executor=executor, workers=3, placement=ON_EACH_ITS_OWN)[:4] == told
    assert f"raised {kind.title().replace(' ', '')}Error at tag" in told[0]


@pytest.mark.parametrize("also", ["", "at shutdown"])
@pytest.mark.parametrize("where", ["hub", "leaf 0", "leaf 1"])
def test_an_exception_without_words_is_named_all_the_same(executor, where, also, log, soon):
    faults = {where: (3, "raise wordless")} | ({"leaf 2": ("shutdown", "raise wordless")} if also else {})
    with soon(), pytest.raises(ReactionError, match=r"raised WordlessError at .*: its str\(\) failed") as caught:
        run(Star, log=log, faults=faults, executor=executor, workers=3, placement=ON_EACH_ITS_OWN)
    assert type(caught.value.__cause__) is WordlessError
    notes = getattr(caught.value.__cause__, "__notes__", [])
    assert sum("raised too: WordlessError" in note for note in notes) == bool(also)


def test_the_traceback_of_a_value_that_cannot_travel_shows_no_exception_of_ours(log, soon):
    faults = {"leaf 1": (3, "unpicklable")}
    with soon(), pytest.raises(WorkerError) as caught:
        run(Star, log=log, faults=faults, executor="processes", workers=3, placement=ON_EACH_ITS_OWN)
    assert "Poisoned" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("where", ["leaf 1", "leaf 2"])
@pytest.mark.parametrize("how", ["exit at once", "killed"])
@pytest.mark.parametrize("when", [4, "startup", "shutdown"])
def test_a_worker_that_dies_is_named(where, how, when, log, soon):
    with soon(), pytest.raises(WorkerError) as caught:
        run(Star, log=log, faults={where: (when, how)}, executor="processes", workers=3, placement=ON_EACH_ITS_OWN)
    number = where[-1]
    what = {"exit at once": "exited with status 5", "killed": "was killed by SIGKILL"}[how]
    assert f"worker {number} (process " in str(caught.value)
    assert f"with Star.leaf[{number}]) {what} before the run ended" in str(caught.value)
    ended = [line for line in noted(log) if line.endswith("ended")]
    assert len(ended) == len(set(ended))
    assert {"hub ended", "leaf 0 ended"} <= set(ended)


class FailsOrStays(Reactor):
    """A member fails at once, and another one stays in its reaction for a while."""

    inp = Input[int]()

    def __init__(self, fails: int, stays: int, stay_s: float, log: str) -> None:
        self.fails, self.stays, self.until, self.log = fails, stays, stay_s, log

    @reaction(inp)
    def work(self, _inp) -> None:
        if self.bank_index == self.fails:
            raise ValueError("at once")
        until = time.monotonic() + (self.until if self.bank_index == self.stays else 0)
        while time.monotonic() < until:
            time.sleep(0.01)

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, f"{self.bank_index} ended")


class Unequal(Reactor):
    def __init__(self, fails: int, stays: int, stay_s: float, log: str) -> None:
        self.members = Bank(FailsOrStays, 3, fails, stays, stay_s, log)

    @reaction(startup, effects="members.inp")
    def begin(self, ports) -> None:
        for port in ports:
            port.set(1)


@pytest.mark.parametrize("opens", [False, True])
@pytest.mark.parametrize(("fails", "stays"), [(0, 1), (1, 2), (2, 1), (1, 0)])
def test_a_failure_is_reported_while_another_worker_is_busy_and_then_that_is_ended(
    executor, fails, stays, opens, log, soon, monkeypatch, capfd
):
    monkeypatch.setattr("reactorlib.worker.notice.LATE_S", 0.1)
    monkeypatch.setattr("reactorlib.executors.distributed.LONGEST_SETTLE_S", 0.5)
    start = Session if opens else run
    stay_s = 60 if stays else 0.5  # nothing can end a reaction on worker 0
    with soon(), pytest.raises(ReactionError, match=rf"members\[{fails}\]\.work raised .*: at once") as caught:
        start(Unequal, fails=fails, stays=stays, stay_s=stay_s, log=log, executor=executor, workers=3)
    assert sorted(noted(log)) == sorted(f"{member} ended" for member in range(3) if member != fails)
    lines = capfd.readouterr().err.splitlines()
    assert all(line.startswith(f"reactorlib: Unequal.members[{fails}].work raised ValueError") for line in lines)
    assert 1 <= len(lines) <= 2  # worker 0 may have heard of it after the worker reported it
    if stays:
        assert f"worker {stays} (with Unequal.members[{stays}]) was broken off" in "".join(
            caught.value.__cause__.__notes__
        )
        assert fails > stays or f"waits for worker {stays} (with Unequal.members[{stays}])" in lines[-1]


class LongEnd(Reactor):
    @reaction(startup)
    def begin(self) -> None:
        raise ValueError("at once")


class AlsoLong(Reactor):
    def __init__(self) -> None:
        self.fails = LongEnd()

    @reaction(shutdown)
    def end(self) -> None:
        time.sleep(0.5)


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_a_failure_is_reported_while_shutdown_reactions_run(executor, monkeypatch, capfd):
    monkeypatch.setattr("reactorlib.worker.notice.LATE_S", 0.1)
    with pytest.raises(ReactionError, match="at once"):
        run(AlsoLong, executor=executor, workers=2)
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("reactorlib: AlsoLong.fails.begin raised ValueError")


class Acting(Reactor):
    """Member 1 of two calls `act` at startup, and lives on, unless that ends it."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.act = act

    @reaction(startup)
    def begin(self) -> None:
        if self.bank_index == 1:
            self.act()
            time.sleep(30)


NAMELESS = signal.SIGRTMIN + 6  # Python has no name for it


@pytest.mark.parametrize(
    ("act", "fate"),
    [
        # The file that shows its end is among them.
        pytest.param(lambda: os.closerange(3, 1000), "SIGKILL", id="closes its files and lives on"),
        pytest.param(lambda: os.kill(os.getpid(), NAMELESS), f"signal {NAMELESS} before", id="a nameless signal"),
    ],
)
def test_a_worker_is_named_that_closes_its_files_or_dies_of_a_signal_without_a_name(act, fate, soon):
    members = {"kind": Acting, "count": 2, "arguments": (act,), "placement": {"Members.members[1]": 1}}
    with soon(), pytest.raises(WorkerError, match=rf"worker 1 .* was killed by {fate}"):
        run(Members, **members, executor="processes", workers=2)


@pytest.mark.parametrize("code", [0, 3, -signal.SIGTERM])
def test_the_exit_status_is_the_process_s_own(code):
    for _ in range(20):
        process = multiprocessing.get_context("fork").Process(target=end, args=(code,))
        process.start()
        assert wait([process.sentinel], timeout=30)
        assert reaped(process) == code
        process.close()


def end(code: int) -> None:
    """End with a status, at once."""
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


class Slow(Leaf):
    """Its shutdown takes longer than a worker that does not answer is given."""

    @reaction(shutdown)
    def save(self) -> None:
        time.sleep(1.5)
        note(self.log, f"{self.name} saved")


class Saving(Reactor):
    def __init__(self, log: str, faults: dict[str, tuple[int, str]]) -> None:
        self.hub = Hub(2, 0, faults, log)
        self.leaf = Bank(Slow, 2, faults, log)
        connect(self.hub.request, self.leaf.request, after=0)
        connect(self.leaf.reply, self.hub.replies)


def test_shutdown_reactions_have_the_time_they_take(executor, log):
    with pytest.raises(ReactionError, match="hub failed"):
        run(Saving, log=log, faults={"hub": (3, "raise")}, executor=executor, workers=2)
    assert {"leaf 0 saved", "leaf 1 saved"} <= set(noted(log))


class Abort(BaseException):
    """No Exception, and cannot be pickled: it holds a lock, and its constructor wants more than its arguments."""

    def __init__(self, text: str, lock: Any) -> None:
        super().__init__(text)
        self.lock = lock


class Quit(SystemExit):
    def __init__(self, code: int, lock: Any) -> None:
        super().__init__(code)
        self.lock = lock


class Breaks(Reactor):
    def __init__(self, log: str, error: BaseException) -> None:
        self.log, self.error = log, error

    @reaction(startup)
    def begin(self) -> None:
        if self.bank_index == 1:
            raise self.error

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, f"{self.bank_index} ended")


def local_abort() -> BaseException:
    class Local(Abort): ...

    return Local("stop it", threading.Lock())


@pytest.mark.parametrize("executor", ["inline", "threads", "processes"])
@pytest.mark.parametrize("kind", ["abort", "quit", "local"])
def test_what_is_no_exception_passes_as_it_is_and_every_shutdown_reaction_runs(executor, kind, log, soon):
    lock = threading.Lock()
    error = {"abort": Abort("stop it", lock), "quit": Quit(7, lock), "local": local_abort()}[kind]
    members = {"kind": Breaks, "count": 3, "arguments": (log, error)}
    placement = {f"Members.members[{index}]": index for index in range(3)}
    with soon(), pytest.raises(BaseException) as caught:
        run(Members, **members, executor=executor, workers=3, placement=placement)
    assert not isinstance(caught.value, Exception)
    assert sorted(noted(log)) == ["0 ended", "1 ended", "2 ended"]
    if executor == "processes":  # a lock cannot travel
        assert str(caught.value) == f"{type(error).__name__}: {error}"
    else:
        assert caught.value is error

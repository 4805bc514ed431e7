"""Values between workers: ones that cannot cross, full memory, views that are kept, copies that go stale."""

from __future__ import annotations

import gc
import resource
from typing import Any

import numpy as np
import pytest

from reactorlib import (
    ABSENT,
    MSEC,
    Bank,
    Input,
    LogicalAction,
    Output,
    Reactor,
    Timer,
    WorkerError,
    connect,
    reaction,
    request_stop,
    run,
    shutdown,
    startup,
)
from tests.reactorlib.conformance.reactors import Members, Relay, Source
from tests.reactorlib.conformance.reactors import noted as noted_reaction
from tests.reactorlib.executors.programs import note, noted


class Giver(Reactor):
    """Gives a lambda to a port or an action, on the way to another reactor, or what cannot be rebuilt there."""

    plain = Output[int]()
    out = Output[Any]()
    later = LogicalAction[Any]()

    def __init__(self, how: str) -> None:
        self.how = how

    @reaction(startup, effects=[plain, out, later])
    def give(self, plain, out, later) -> None:
        plain.set(1)
        if self.how == "action":
            later.schedule(value=lambda: 2)
        else:
            out.set(Unwilling() if self.how == "unwilling" else lambda: 2)

    @reaction(later, effects=out)
    def on(self, later, out) -> None:
        out.set(later.value)


class Unwilling:
    """Can be pickled, but not rebuilt."""

    def __reduce__(self) -> Any:
        return int, ("not a number",)


class Taker(Reactor):
    plain = Input[int]()
    inp = Input[Any]()
    take = noted_reaction(plain, uses=inp)

    def __init__(self, log: str) -> None:
        self.log = log

    @reaction(inp)
    def call(self, inp) -> None:
        note(self.log, str(inp.value()))

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, "ended")


class Gift(Reactor):
    def __init__(self, log: str, how: str = "port", after: int | None = None) -> None:
        self.giver = Giver(how)
        self.taker = Taker(log)
        connect(self.giver.plain, self.taker.plain)
        connect(self.giver.out, self.taker.inp, after=after)


@pytest.mark.parametrize("how", ["port", "action"])
@pytest.mark.parametrize("after", [None, 0, 1 * MSEC], ids=str)
@pytest.mark.parametrize("mover", ["giver", "taker"])
def test_a_value_that_cannot_be_pickled_is_named_by_its_port(mover, after, how, log, soon):
    options = {"how": how, "after": after, "log": log, "workers": 2, "placement": {f"Gift.{mover}": 1}, "fast": True}
    run(Gift, executor="threads", **options)
    assert noted(log) == ["2", "ended"]
    with soon(), pytest.raises(WorkerError) as caught:
        run(Gift, executor="processes", **options)
    element = "later" if (how, mover) == ("action", "giver") else "out"
    assert str(caught.value).startswith(f"Gift.giver.{element}: a value of type function cannot travel")
    assert noted(log) == ["2", "ended", "ended"]


class Late(Reactor):
    """Ticks where others receive, so that its worker gets the first message."""

    tick = Timer(1 * MSEC)
    inp = Input[Any]()
    begin, take = noted_reaction(tick), noted_reaction(inp)


class TwoGifts(Reactor):
    def __init__(self) -> None:
        self.giver, self.late, self.relay = Giver("port"), Late(), Relay(quiet=True)
        connect(self.giver.out, self.relay.inp, after=1 * MSEC)
        connect(self.relay.out, self.late.inp)


def test_a_value_that_cannot_be_sent_to_one_worker_leaves_no_other_waiting(soon):
    placement = {"TwoGifts.late": 1, "TwoGifts.relay": 2}
    with soon(), pytest.raises(WorkerError, match=r"TwoGifts.giver.out: a value of type function cannot travel"):
        run(TwoGifts, executor="processes", workers=3, placement=placement, fast=True)


@pytest.mark.parametrize(("mover", "after"), [("giver", None), ("taker", None), ("taker", 0)])
def test_a_value_that_cannot_be_rebuilt_is_named_by_its_port(mover, after, log, soon):
    options = {"executor": "processes", "workers": 2, "placement": {f"Gift.{mover}": 1}}
    with soon(), pytest.raises(WorkerError, match=r"Gift.giver.out.*: .*cannot be rebuilt.*not a number"):
        run(Gift, log=log, how="unwilling", after=after, **options)
    assert noted(log) == ["ended"]


# Memory


class Maker(Reactor):
    """Makes arrays of `nbytes`, each filled with its number; by `allocate`, if asked to, in shared memory."""

    ask = Input[int]()
    array = Output[Any]()

    def __init__(self, nbytes: int, allocates: bool) -> None:
        self.count = nbytes // 8
        self.allocates = allocates

    @reaction(ask, effects=array)
    def make(self, ask, array) -> None:
        made = array.allocate(self.count, np.int64) if self.allocates else np.empty(self.count, int)
        made[:] = ask.value
        array.set(made)


class Keeper(Reactor):
    """Asks for an array each round; keeps every one, or every `every`th."""

    array = Input[Any]()
    ask = Output[int]()

    def __init__(self, rounds: int, every: int, kept: list[Any]) -> None:
        self.rounds, self.every, self.kept = rounds, every, kept

    @reaction(startup, effects=ask)
    def begin(self, ask) -> None:
        ask.set(0)

    @reaction(array, effects=ask)
    def keep(self, array, ask) -> None:
        number = int(array.value[0])
        if number % self.every == 0:
            self.kept.append(array.value)
        request_stop() if number + 1 == self.rounds else ask.set(number + 1)


class Hoard(Reactor):
    def __init__(self, nbytes: int, rounds: int, every: int = 1, allocates: bool = False, kept: Any = ()) -> None:
        self.keeper = Keeper(rounds, every, [] if kept == () else kept)
        self.maker = Maker(nbytes, allocates)
        connect(self.keeper.ask, self.maker.ask, after=0)
        connect(self.maker.array, self.keeper.array)


@pytest.mark.parametrize("allocates", [False, True])
@pytest.mark.parametrize("mover", ["maker", "keeper"])
def test_shared_memory_that_is_full_ends_the_run_with_an_error(mover, allocates, monkeypatch, soon):
    monkeypatch.setattr("reactorlib.transport.exchange.default_capacity", lambda: 5 << 20)
    options = {"executor": "processes", "workers": 2, "placement": {f"Hoard.{mover}": 1}, "allocates": allocates}
    run(Hoard, nbytes=1 << 20, rounds=50, every=50, **options)
    with soon(), pytest.raises(Exception, match="shared memory is full") as caught:
        run(Hoard, nbytes=1 << 20, rounds=50, **options)
    assert isinstance(caught.value, WorkerError) or isinstance(caught.value.__cause__, WorkerError)


@pytest.mark.parametrize("allocates", [False, True])
def test_a_view_that_is_kept_stays_as_it_was(executor, allocates):
    kept: list[Any] = []
    options = {"executor": executor, "workers": 2, "placement": {"Hoard.maker": 1}, "allocates": allocates}
    run(Hoard, nbytes=16 << 10, rounds=1001, every=100, kept=kept, **options)
    for number, array in enumerate(kept):  # also after the run
        assert (array == 100 * number).all()
    if executor == "processes":
        assert not any(array.flags.writeable for array in kept)
    view = kept[3][5:50]
    kept.clear()
    del array
    gc.collect()
    assert (view == 300).all()


class Faults(list):
    """The page faults of this process before each array."""

    def append(self, _array) -> None:
        super().append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)


def test_memory_of_large_arrays_that_stay_in_their_process_is_used_again(executor):
    faults, together = Faults(), {"Hoard.maker": 0, "Hoard.keeper": 0}
    options = {"executor": executor, "workers": 2, "placement": together, "allocates": True}
    run(Hoard, nbytes=40 << 20, rounds=30, kept=faults, **options)
    huge_pages = 20  # of each array
    assert faults[-1] - faults[9] < 20 * huge_pages / 2


# Copies that are only looked at later


class Looker(Reactor):
    often = Input[int]()
    seldom = Input[Any]()
    seen = Output[Any]()

    @reaction(often, uses=seldom, effects=seen)
    def look(self, often, seldom, seen) -> None:
        last = seldom.value["count"] if isinstance(seldom.value, dict) else seldom.value
        seen.set((often.value, seldom.is_present, int(last[0]) if isinstance(last, np.ndarray) else last))


class Watch(Reactor):
    def __init__(self, lookers: int = 4) -> None:
        seldom = (np.full(5000, number) if number % 3 else {"count": number} for number in range(8))
        self.often, self.seldom = Source(*range(26), period=2 * MSEC), Source(ABSENT, *seldom, period=7 * MSEC)
        self.looker = Bank(Looker, lookers)
        connect(self.often.out, self.looker.often)
        connect(self.seldom.out, self.looker.seldom)


@pytest.mark.parametrize("workers", [2, 3])
def test_a_value_is_still_there_at_later_tags(executor, workers):
    expected = run(Watch, timeout=50 * MSEC, fast=True, trace=True)
    for placement in (None, {"Watch.often": 1, "Watch.seldom": 1}):
        got = run(Watch, timeout=50 * MSEC, fast=True, trace=True, executor=executor, workers=workers,
                  placement=placement)  # fmt: skip
        assert got.digest == expected.digest


# Traces


def test_a_trace_that_cannot_travel_is_an_error_that_names_the_port(soon):
    """No reaction reads the ports. Their values cannot be pickled."""
    options = {"kind": Source, "count": 2, "arguments": (lambda: 1,), "executor": "processes", "workers": 2}
    run(Members, **options)
    with soon(), pytest.raises(WorkerError, match=r"Members.members\[1\].out: a value of type function"):
        run(Members, trace=True, **options)

"""Arrays that several reactors fill in place, on every executor."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reactorlib import (
    MSEC,
    Bank,
    Batch,
    Input,
    Mode,
    Output,
    Reactor,
    Session,
    Timer,
    WorkerError,
    connect,
    reaction,
    request_stop,
    run,
    startup,
)
from tests.reactorlib.conformance.reactors import Relay
from tests.reactorlib.observing import Execute

SHAPES = [((4, 3), "f4"), ((4,), "?"), ((4, 50, 70), "u1"), ((4, 0), "i8"), ((4, 2), [("a", "i4"), ("b", "f8")])]


def row_of(array: Any, index: int) -> Any:
    """The value with which member `index` fills its row."""
    return (index, 0.5) if array.dtype.names else index % 2 + 1


class Row(Reactor):
    batch, done = Input[Batch](), Output[int]()

    @reaction(batch, effects=done)
    def fill(self, batch, done) -> None:
        array = batch.value.array
        array[self.bank_index] = row_of(array, self.bank_index)
        done.set(self.bank_index)


class Hub(Reactor):
    done, batch = Input[int](width=4), Output[Batch]()

    def __init__(self, rounds: int, shape: Any, dtype: Any) -> None:
        self.rounds = rounds
        self.shape, self.dtype = shape, dtype
        self.seen: list[Any] = []

    @reaction(startup, effects=batch)
    def begin(self, batch) -> None:
        self.one = batch.batch(self.shape, self.dtype)
        batch.set(self.one)

    @reaction(done, effects=batch)
    def take(self, done, batch) -> None:
        self.seen.append(self.one.array)
        if len(self.seen) == self.rounds:
            SEEN.append(self.seen)
            request_stop()
        else:
            self.begin(batch)


class Rounds(Reactor):
    def __init__(self, rounds: int, shape: Any, dtype: Any) -> None:
        self.hub = Hub(rounds, shape, dtype)
        self.rows = Bank(Row, 4)
        connect(self.hub.batch, self.rows.batch, after=0)
        connect(self.rows.done, self.hub.done)


SEEN: list[Any] = []


def expected(shape: Any, dtype: Any) -> Any:
    array = np.zeros(shape, dtype)
    for index in range(4):
        array[index] = row_of(array, index)
    return array


@pytest.mark.parametrize(("shape", "dtype"), SHAPES)
def test_many_fill_rows_of_one_array_and_what_is_kept_stays(execute: Execute, shape: Any, dtype: Any) -> None:
    execute(Rounds, rounds=20, shape=shape, dtype=dtype, placement=None, trace=False)
    (seen,) = SEEN
    SEEN.clear()
    assert len(seen) == 20
    for array in seen:
        np.testing.assert_array_equal(array, expected(shape, dtype))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_way_to_start_processes_works(method: str) -> None:
    run(Rounds, rounds=3, shape=(4, 5), dtype="i2", executor="processes", workers=2, start_method=method)
    for array in SEEN.pop():
        np.testing.assert_array_equal(array, expected((4, 5), "i2"))


class Filled(Reactor):
    batch, done = Input[Batch](), Output[int](width=4)

    def __init__(self) -> None:
        self.rows = Bank(Row, 4)
        connect(self.batch, self.rows.batch)
        connect(self.rows.done, self.done)


def test_a_batch_goes_on_along_a_connection_in_a_mode_to_several_workers(execute: Execute) -> None:
    class Maker(Reactor):
        tick = Timer(0, 1 * MSEC)
        batch = Output[Batch]()

        @reaction(tick, effects=batch)
        def make(self, tick, batch) -> None:
            batch.set(batch.batch((4, 3), "i8"))

    class Modal(Reactor):
        mode = Mode(initial=True)

        def __init__(self) -> None:
            self.maker, self.filled = Maker(), Filled()
            with self.mode:
                connect(self.maker.batch, self.filled.batch)

    execute(Modal, timeout=3 * MSEC, trace=False)


def test_a_caller_passes_the_same_batch_again_and_again(opened: Callable[..., Session]) -> None:
    with opened(Filled, trace=False) as session:
        batch = session.batch((4, 2), "i8")
        for _ in range(50):
            batch.array[...] = 0
            session.step(batch=batch)
            np.testing.assert_array_equal(batch.array, expected((4, 2), "i8"))
    np.testing.assert_array_equal(batch.array, expected((4, 2), "i8"))


def test_the_length_of_a_batch_may_be_a_number_of_numpy(opened: Callable[..., Session]) -> None:
    with opened(Filled, trace=False) as session:
        shapes: list[Any] = [np.int64(4), (np.int64(4), 2), [4, 2]]
        assert [session.batch(shape).array.shape for shape in shapes] == [(4,), (4, 2), (4, 2)]


def test_a_batch_that_is_pickled_otherwise_says_that_it_would_be_a_copy() -> None:
    with Session(Filled, executor="processes", workers=2) as session:
        batch = session.batch(10)
        with pytest.raises(WorkerError, match="travels as the value of a port only"):
            pickle.loads(pickle.dumps(batch, 5))


def test_a_batch_that_is_sent_on_is_refused_rather_than_copied() -> None:
    class Chain(Reactor):
        batch = Input[Batch]()

        def __init__(self) -> None:
            self.relay, self.row = Relay(quiet=True), Row()
            connect(self.batch, self.relay.inp)
            connect(self.relay.out, self.row.batch)

    session = Session(Chain, executor="processes", workers=2, placement={"Chain.relay": 1})
    with pytest.raises(WorkerError, match=r"Chain.relay.out: .*no further"):
        session.step(batch=session.batch(4))

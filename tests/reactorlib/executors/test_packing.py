"""Cells to a message and back: all present, some, none; few cells and very many."""

from __future__ import annotations

import pickle
from itertools import product

import pytest

from reactorlib.errors import WorkerError
from reactorlib.executors.packing import LONGEST, packer, unpacker, values_of
from reactorlib.worker.cells import Reader

KIND = 7


def cells(values: list[object]) -> list[Reader]:
    made = [Reader(f"Main.cell[{n}]") for n in range(len(values))]
    for cell, value in zip(made, values, strict=True):
        cell.value, cell.is_present = value, value is not None
    return made


def same_error(error: WorkerError) -> WorkerError:
    return error


@pytest.mark.parametrize("present", [*product((True, False), repeat=3), (), (True,) * 8, (True,) * 9, (False,) * 9])
@pytest.mark.parametrize("more", [0, LONGEST])
def test_what_is_present_arrives_and_nothing_else(present: tuple[bool, ...], more: int) -> None:
    values: list[object] = [n if there else None for n, there in enumerate((*present, *(True,) * more))]
    message = packer(cells(values), pickle.dumps, KIND, same_error)()
    assert message[-1] == KIND
    received = cells([None] * len(values))
    unpacker(received, pickle.loads, same_error)(message)
    assert [cell.value for cell in received] == values
    assert [cell.is_present for cell in received] == [value is not None for value in values]


def test_what_is_absent_keeps_its_last_value() -> None:
    received = cells([1, 2])
    received[0].is_present = received[1].is_present = False
    unpacker(received, pickle.loads, same_error)(packer(cells([None, 5]), pickle.dumps, KIND, same_error)())
    assert [(cell.value, cell.is_present) for cell in received] == [(1, False), (5, True)]


def test_events_travel_whether_present_or_not() -> None:
    events = cells([1, None])
    assert pickle.loads(values_of(events, pickle.dumps, same_error)()) == (1, None)


@pytest.mark.parametrize("count", [1, LONGEST + 1])
def test_an_error_gets_the_name_of_the_cell(count: int) -> None:
    def fail(_: object) -> bytes:
        raise WorkerError("no room") from MemoryError("cause")

    def blame(error: WorkerError) -> WorkerError:
        return WorkerError(f"Main.cell[0]: {error}")

    some = cells([0] * count)
    whole = packer(some, pickle.dumps, KIND, same_error)()
    for broken in (
        packer(some, fail, KIND, blame),
        values_of(some, fail, blame),
        lambda: unpacker(some, fail, blame)(whole),
    ):
        with pytest.raises(WorkerError, match=r"Main.cell\[0\]: no room") as caught:
            broken()
        assert isinstance(caught.value.__cause__, MemoryError)

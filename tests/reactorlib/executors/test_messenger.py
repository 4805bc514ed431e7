"""Cells become a message and come back. All, some or none of them are present, and there are few or very many."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from reactorlib.errors import WorkerError
from reactorlib.executors.messenger import WRITTEN_OUT, Messenger
from reactorlib.worker.cells import Event, Reader

KIND = 7


class PickleCodec:
    """Encodes by pickle."""

    def encoder(self, _receivers: Sequence[int]) -> Any:
        return self.encode

    def encode(self, value: Any, _receivers: Sequence[int] = ()) -> bytes:
        return pickle.dumps(value)

    def decoder(self) -> Any:
        return pickle.loads


class FullCodec(PickleCodec):
    """Has no room for anything."""

    def encode(self, value: Any, _receivers: Sequence[int] = ()) -> bytes:
        raise WorkerError("no room") from MemoryError("cause")

    def decoder(self) -> Any:
        return self.encode


def messenger(codec: PickleCodec) -> Messenger:
    nothing: dict[str, Any] = dict.fromkeys(("allocate", "allocate_shared", "sender_to", "receiver_from"))
    return Messenger(SimpleNamespace(codec=codec, **nothing))  # type: ignore[arg-type]


MESSENGER = messenger(PickleCodec())


def cells(values: list[object]) -> list[Reader]:
    made: list[Reader] = [Event(f"Main.cell[{n}]", n, SimpleNamespace(mode=None)) for n in range(len(values))]
    for cell, value in zip(made, values, strict=True):
        cell.value, cell.is_present = value, value is not None
    return made


@pytest.mark.parametrize("present", [*product((True, False), repeat=3), (), (True,) * 8, (True,) * 9, (False,) * 9])
@pytest.mark.parametrize("more", [0, WRITTEN_OUT])
def test_what_is_present_arrives_and_nothing_else(present: tuple[bool, ...], more: int) -> None:
    values: list[object] = [n if there else None for n, there in enumerate((*present, *(True,) * more))]
    message = MESSENGER.packer(cells(values), 1, KIND)()
    assert message[-1] == KIND
    received = cells([None] * len(values))
    unpack = MESSENGER.unpacker(received)
    assert (unpack is None) == (not values)
    if unpack is not None:
        unpack(message)
    assert [cell.value for cell in received] == values
    assert [cell.is_present for cell in received] == [value is not None for value in values]


def test_what_is_absent_keeps_its_last_value() -> None:
    received = cells([1, 2])
    received[0].is_present = received[1].is_present = False
    unpack = MESSENGER.unpacker(received)
    assert unpack is not None
    unpack(MESSENGER.packer(cells([None, 5]), 1, KIND)())
    assert [(cell.value, cell.is_present) for cell in received] == [(1, False), (5, True)]


def test_events_travel_whether_present_or_not() -> None:
    sent, received = cells([1, None]), cells([None, 3])
    MESSENGER.filler(received)(MESSENGER.encoder(sent, (1,))())  # type: ignore[arg-type]
    assert [(event.value, event.is_present) for event in received] == [(1, False), (None, True)]


@pytest.mark.parametrize("count", [1, WRITTEN_OUT + 1])
def test_an_error_gets_the_name_of_the_cell(count: int) -> None:
    some, full = cells([0] * count), messenger(FullCodec())
    whole = MESSENGER.packer(some, 1, KIND)()
    unpack = full.unpacker(some)
    assert unpack is not None
    for broken in (
        full.packer(some, 1, KIND),
        full.encoder(some, (1,)),  # type: ignore[arg-type]
        lambda: unpack(whole),
    ):
        with pytest.raises(WorkerError, match=r"Main.cell\[0\].*: no room") as caught:
            broken()
        assert isinstance(caught.value.__cause__, MemoryError)

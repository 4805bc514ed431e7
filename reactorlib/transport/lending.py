"""What a receiver holds of another worker's blocks: buffers that release them when their last view dies."""

from __future__ import annotations

import ctypes
import os
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from threading import RLock
from typing import Any, Protocol
from weakref import WeakSet

from reactorlib.cpus import gil_enabled
from reactorlib.transport.arena import Arena
from reactorlib.transport.store_order import fence, keeps_store_order


class Lending(Protocol):
    """Makes buffers over the parts that one other worker placed, from references to them."""

    def lend(self, first: int, offset: int, room: int) -> memoryview:
        """A read-only buffer of `room` bytes, or more than were placed."""

    def borrow(self, first: int, offset: int, room: int) -> Any:
        """The same, writable, for those who cannot take a read-only one."""


class _Lent:
    """The base of a receiver's views: it releases its block when it dies, with the last of them."""

    __slots__ = ()
    lender: Lender
    count: int

    def __del__(self) -> None:
        # No call between load and store: with a GIL neither another thread nor a collection comes between them.
        releases, count = self.lender.releases, self.count
        releases[count] = releases[count] + 1


class _LentInOrder(_Lent):
    """For machines that reorder memory operations, and for threads that run at the same time."""

    __slots__ = ()
    lock = RLock()  # reentrant: a collection may release another block in the middle
    fence = staticmethod(fence)

    def __del__(self) -> None:
        with self.lock:
            self.fence()  # the owner may overwrite the block once it sees the count: our reads come before
            releases, count = self.lender.releases, self.count
            releases[count] = releases[count] + 1


@cache
def _maker(base: Any, room: int) -> Callable[[int], Any]:
    """Makes buffers of one size class, of which there are few, from addresses."""
    sized: Any = type("Lent", (base, ctypes.c_ubyte * room), {"__slots__": ("count", "lender")})
    make: Callable[[int], Any] = sized.from_address
    return make


class Lender:
    """Makes the buffers of one receiver over the blocks of one owner; they keep it, and it keeps the mapping."""

    def __init__(self, arena: Arena, receiver: int) -> None:
        self.memory = arena.memory
        self.receiver = receiver
        self.releases: Any = arena.releases
        self._address = arena.memory.address
        self._base: Any = _Lent if keeps_store_order() and gil_enabled() else _LentInOrder
        self._makers: dict[int, Callable[[int], Any]] = {}  # known so far, by room
        _lenders.add(self)

    def lend(self, first: int, offset: int, room: int) -> memoryview:
        """A read-only buffer of `room` bytes over a block; `first` is the number of its first release count."""
        return memoryview(self.borrow(first, offset, room)).toreadonly()

    def borrow(self, first: int, offset: int, room: int) -> Any:
        """The same, writable, for those who cannot take a read-only one."""
        make = self._makers.get(room)
        if make is None:
            make = self._makers[room] = _maker(self._base, room)
        buffer = make(self._address + offset)
        buffer.count = first + self.receiver
        buffer.lender = self
        return buffer


_lenders: WeakSet[Lender] = WeakSet()


def _disown_all() -> None:
    """A forked process inherits buffers, but not the duty to release them: their counts go nowhere."""
    for lender in _lenders:
        lender.releases = defaultdict(int)


os.register_at_fork(after_in_child=_disown_all)

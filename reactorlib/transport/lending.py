"""What a receiver holds of another worker's blocks: buffers that release them when their last view dies."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from threading import RLock
from typing import Any
from weakref import WeakSet

from reactorlib.transport.arena import Arena
from reactorlib.transport.ordering import fence, keeps_store_order

TYPES = 1024  # remembered, one per size class in use


class _Lent:
    """The base of a receiver's views. `releases` and `memory` are the same for all buffers of a lender."""

    __slots__ = ()
    releases: Any
    memory: Any  # keeps the mapping
    count: int

    def __del__(self) -> None:
        # No call between load and store: with a GIL neither another thread nor a collection comes between them.
        releases, count = self.releases, self.count
        releases[count] = releases[count] + 1


class _LentInOrder(_Lent):
    """For machines that reorder memory operations, and for threads that run at the same time."""

    __slots__ = ()
    lock = RLock()  # reentrant: a collection may release another block in the middle
    fence = staticmethod(fence)

    def __del__(self) -> None:
        with self.lock:
            self.fence()  # the owner may overwrite the block once it sees the count: our reads come before
            releases, count = self.releases, self.count
            releases[count] = releases[count] + 1


class _Nowhere:
    """Takes the counts of buffers that a forked process inherited: it has the objects, but not the duty."""

    def __getitem__(self, count: int) -> int:
        return 0

    def __setitem__(self, count: int, times: int) -> None:
        pass


class Lender:
    """Makes the buffers of one receiver over the blocks of one owner."""

    def __init__(self, arena: Arena, receiver: int) -> None:
        base = _Lent if keeps_store_order() and has_gil() else _LentInOrder
        self.memory = arena.memory
        self.receiver = receiver
        attributes = {"__slots__": (), "releases": arena.releases, "memory": arena.memory.map}
        self._base: Any = type("Lent", (base,), attributes)
        self._types: dict[int, Callable[[int], Any]] = {}
        _lenders.add(self)

    def lend(self, first: int, offset: int, room: int) -> memoryview:
        """A read-only buffer of `room` bytes over a block; `first` is the number of its first release count."""
        return memoryview(self.borrow(first, offset, room)).toreadonly()

    def borrow(self, first: int, offset: int, room: int) -> Any:
        """The same, writable, for those who cannot take a read-only one."""
        make = self._types.get(room) or self._type(room)
        buffer = make(self.memory.address + offset)
        buffer.count = first + self.receiver
        return buffer

    def _type(self, room: int) -> Callable[[int], Any]:
        if len(self._types) >= TYPES:
            self._types.clear()
        sized: Any = type("Lent", (self._base, ctypes.c_ubyte * room), {"__slots__": ("count",)})
        make: Callable[[int], Any] = sized.from_address
        self._types[room] = make
        return make

    def disown(self) -> None:
        """The buffers so far release nothing any more."""
        self._base.releases = _Nowhere()


_lenders: WeakSet[Lender] = WeakSet()


def _disown_all() -> None:
    for lender in _lenders:
        lender.disown()


os.register_at_fork(after_in_child=_disown_all)


def has_gil() -> bool:
    """Whether threads of this process run Python code one at a time."""
    enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return enabled()

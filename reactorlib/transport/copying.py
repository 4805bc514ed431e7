"""Where the large parts of a message go: beside it. In shared memory that is the sender's arena.

There a part is copied once, or not at all if it lies there already.
"""

from __future__ import annotations

import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from ctypes import addressof, c_ubyte
from pickle import PickleBuffer
from typing import Any

from reactorlib.transport import pickling
from reactorlib.transport.arena import Arena, Owned, room_of
from reactorlib.transport.structure import BIG, SHORT

PICKLED, ENCLOSED = 0, 1  # kinds of messages that have no structure: a pickle; a reference to the message itself
HEAD = struct.Struct("<BBHI")  # kind, nothing, owner, number of references that follow
REFERENCE = struct.Struct("<QQQQ")  # a Reference, bytes

_SHARED = memoryview, Owned  # what arrays that lie in shared memory are based on
Placed = list[Any]  # what one message refers to
Reference = tuple[int, int, int]  # how the receiver finds a part: in shared memory first release count, offset, room


class Placing(ABC):
    """The parts are collected in `placed`; the message is sent off with them, or they are committed to nobody."""

    def __init__(self, worker: int) -> None:
        self.worker = worker

    @abstractmethod
    def array(self, array: Any, placed: Placed) -> Reference:
        """A NumPy array. One that lies in a buffer from `allocate` is read-only from now on: readers see it."""

    @abstractmethod
    def tensor(self, array: Any, placed: Placed) -> Reference:
        """A torch tensor, given as its NumPy view."""

    @abstractmethod
    def buffer(self, data: Any, placed: Placed) -> Reference:
        """A one-dimensional buffer of bytes."""

    def raw(self, buffer: memoryview, placed: Placed) -> Reference:
        """A buffer of an object that is pickled."""
        return self.buffer(buffer, placed)

    @abstractmethod
    def commit(self, placed: Placed, receivers: Sequence[int]) -> None:
        """The parts are on their way to the receivers; without any, the message will not be sent."""

    def pickled(self, value: Any, placed: Placed) -> bytes:
        """Any value as HEAD, references to its large buffers, pickle."""
        references: list[bytes] = []

        def out_of_band(buffer: PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < BIG:
                return True
            references.append(REFERENCE.pack(*self.raw(raw, placed), raw.nbytes))
            return False

        body = pickling.dumps(value, out_of_band)
        return b"".join((HEAD.pack(PICKLED, 0, self.worker, len(references)), *references, body))

    def send_off(self, message: bytes, placed: Placed, receivers: Sequence[int]) -> bytes:
        """The message, or a short one that refers to it; its parts are now on their way to the receivers."""
        if len(message) > SHORT:
            reference = self.buffer(message, placed)
            message = HEAD.pack(ENCLOSED, 0, self.worker, 1) + REFERENCE.pack(*reference, len(message))
        self.commit(placed, receivers)
        return message


class ArenaPlacing(Placing):
    """Puts them into an arena."""

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena.worker)
        self.arena = arena
        self._map = arena.memory.map

    def array(self, array: Any, placed: Placed) -> Reference:
        base = array.base
        if type(base) is type(array):
            base = base.base
        if isinstance(base, _SHARED) and array.flags.c_contiguous:
            found = self._found(array.__array_interface__["data"][0], array.nbytes, placed)
            if found is not None:
                array.flags.writeable = False
                return found
        return self._copy(array, placed)

    def tensor(self, array: Any, placed: Placed) -> Reference:
        if array.flags.c_contiguous:
            found = self._found(array.__array_interface__["data"][0], array.nbytes, placed)
            if found is not None:
                return found
        return self._copy(array, placed)

    def buffer(self, data: Any, placed: Placed) -> Reference:
        block = self.arena.take(len(data))
        placed.append(block)
        self._map[block.offset : block.offset + len(data)] = data
        return block.first, block.offset, block.room

    def raw(self, buffer: memoryview, placed: Placed) -> Reference:
        found = None
        if not buffer.readonly:
            found = self._found(addressof(c_ubyte.from_buffer(buffer)), buffer.nbytes, placed)
        return found or self.buffer(buffer, placed)

    def commit(self, placed: Placed, receivers: Sequence[int]) -> None:
        self.arena.commit(placed, receivers)

    def _found(self, address: int, nbytes: int, placed: Placed) -> Reference | None:
        found = self.arena.block_at(address, nbytes)
        if found is None:
            return None
        block, offset = found
        placed.append(block)
        return block.first, offset, room_of(nbytes)

    def _copy(self, array: Any, placed: Placed) -> Reference:
        nbytes = array.nbytes
        block = self.arena.take(nbytes)
        placed.append(block)
        try:
            self._map[block.offset : block.offset + nbytes] = array
        except (ValueError, BufferError):  # strided, or of a dtype that has no buffer, such as dates
            numpy = sys.modules["numpy"]
            numpy.copyto(numpy.ndarray(array.shape, array.dtype, self._map, block.offset), array)
        return block.first, block.offset, block.room

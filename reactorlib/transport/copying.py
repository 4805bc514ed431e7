"""Puts the large parts of a message into the sender's arena: with one copy, or none if they lie there already."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from ctypes import addressof, c_ubyte
from pickle import PickleBuffer
from typing import Any

from reactorlib.transport import pickling
from reactorlib.transport.arena import Arena, Block, Owned, room_of
from reactorlib.transport.structure import BIG, SHORT

PICKLED, ENCLOSED = 0, 1  # kinds of messages that have no structure: a pickle; a reference to the message itself
HEAD = struct.Struct("<BBHI")  # kind, nothing, owner, number of references that follow
REFERENCE = struct.Struct("<QQQQ")  # a Reference, bytes

Placed = list[Block]  # what one message refers to
Reference = tuple[int, int, int]  # first release count, offset in memory, room


class Placing:
    """The parts are collected in `placed`; the message is sent off with them, or they are dropped."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._map = arena.memory.map

    def array(self, array: Any, placed: Placed) -> Reference:
        """A NumPy array. One that lies in a buffer of the arena is read-only from now on: readers see it."""
        base = array.base
        if type(base) is type(array):
            base = base.base
        if isinstance(base, memoryview | Owned) and array.flags.c_contiguous:
            found = self._found(array.__array_interface__["data"][0], array.nbytes, placed)
            if found is not None:
                array.flags.writeable = False
                return found
        return self._copy(array, placed)

    def tensor(self, array: Any, placed: Placed) -> Reference:
        """A torch tensor, given as its NumPy view."""
        if array.flags.c_contiguous:
            found = self._found(array.__array_interface__["data"][0], array.nbytes, placed)
            if found is not None:
                return found
        return self._copy(array, placed)

    def buffer(self, data: Any, placed: Placed) -> Reference:
        """A one-dimensional buffer of bytes."""
        block = self.arena.take(len(data))
        placed.append(block)
        self._map[block.offset : block.offset + len(data)] = data
        return block.first, block.offset, block.room

    def pickled(self, value: Any, placed: Placed) -> bytes:
        """Any value as HEAD, references to its large buffers, pickle."""
        references: list[bytes] = []

        def out_of_band(buffer: PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < BIG:
                return True
            found = None
            if not raw.readonly:
                found = self._found(addressof(c_ubyte.from_buffer(raw)), raw.nbytes, placed)
            references.append(REFERENCE.pack(*(found or self.buffer(raw, placed)), raw.nbytes))
            return False

        body = pickling.dumps(value, out_of_band)
        return b"".join((HEAD.pack(PICKLED, 0, self.arena.worker, len(references)), *references, body))

    def send_off(self, message: bytes, placed: Placed, receivers: Sequence[int]) -> bytes:
        """The message, or a short one that refers to it; its parts are now on their way to the receivers."""
        if len(message) > SHORT:
            reference = self.buffer(message, placed)
            message = HEAD.pack(ENCLOSED, 0, self.arena.worker, 1) + REFERENCE.pack(*reference, len(message))
        self.arena.commit(placed, receivers)
        return message

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

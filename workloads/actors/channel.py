"""Messages between two processes of one machine: small ones through a socket, large ones in memory that both map.

A sender copies a large message into memory once, for all who receive it. They read it there without a copy.
"""

import mmap
import os
import socket
import struct
import weakref
from contextlib import suppress

from workloads.actors.message import LARGEST_INLINE_BYTES, Parts

# A message of more bytes, or with a large array, lies in memory.
_PACKET_BYTES = 2 * LARGEST_INLINE_BYTES
_INLINE, _MAPPED, _MEMORY = b"ipm"  # kinds of packets, with a message, the number of its parts in memory, or new memory
_ALIGNMENT = 64  # of a part in memory: a cache line


class Memory:
    """Memory without a name, which is gone when nobody maps it any more."""

    def __init__(self, nbytes: int) -> None:
        self.descriptor = os.memfd_create("actors")
        weakref.finalize(self, os.close, self.descriptor)
        os.ftruncate(self.descriptor, nbytes)
        self.view = memoryview(mmap.mmap(self.descriptor, nbytes))


class Outbox:
    """Makes packets of messages. Large messages lie in the same memory, one after the other."""

    def __init__(self) -> None:
        self.memory: Memory | None = None

    def packet(self, parts: Parts) -> bytes:
        """The packet of a message. It overwrites the last large one."""
        if not is_large(parts):
            head: bytes = parts[0]
            return bytes((_INLINE,)) + head
        views = [memoryview(parts[0]), *(part.raw() for part in parts[1:])]
        sizes = [view.nbytes for view in views]
        table = memoryview(struct.pack(f"{len(sizes)}q", *sizes))
        needed = sum(map(_room, [table.nbytes, *sizes]))
        if self.memory is None or self.memory.view.nbytes < needed:
            self.memory = Memory(needed)
        at = 0
        for view in (table, *views):
            self.memory.view[at : at + view.nbytes] = view
            at += _room(view.nbytes)
        return bytes((_MAPPED,)) + struct.pack("q", len(parts))


class Channel:
    """One end of a connection, on a socket that keeps packets apart (SOCK_SEQPACKET)."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._buffer = bytearray(_PACKET_BYTES)
        self._received = memoryview(self._buffer)
        self._shown: Memory | None = None  # of this end, which the other one has mapped
        self._mapped = memoryview(b"")  # of the other end, here

    def wake_after(self, seconds: int) -> None:
        """Let `receive` raise BlockingIOError when it has waited for this time."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))

    def send(self, packet: bytes, memory: Memory | None, note: bool = False) -> None:
        """Send a packet of an outbox with this memory. Raises an OSError if nobody is there to receive it."""
        if packet[0] == _MAPPED and memory is not None and memory is not self._shown:
            self._socket.send(bytes((False, _MEMORY)))
            socket.send_fds(self._socket, [bytes((_MEMORY,))], [memory.descriptor])
            self._shown = memory
        self._socket.send(bytes((note,)) + packet)

    def receive(self) -> tuple[Parts, bool]:
        """Wait for the next message: its parts, for `message.value_of` before the next one, and the note with it.

        Raises an OSError when the other end is closed.
        """
        size = self._socket.recv_into(self._buffer)
        if size and self._buffer[1] == _MEMORY:
            descriptor = self._receive_descriptor()
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, which this closes
                self._mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            size = self._socket.recv_into(self._buffer)
        if not size:
            raise ConnectionResetError("the other end is closed")
        note, content = bool(self._buffer[0]), self._received[2:size]
        return ([content] if self._buffer[1] == _INLINE else self._parts(*struct.unpack("q", content))), note

    def _receive_descriptor(self) -> int:
        """Wait for the packet with a descriptor, whose notice is taken: its sender may be stopped between the two."""
        while True:
            with suppress(BlockingIOError):
                _, (descriptor,), *_ = socket.recv_fds(self._socket, 1, 1)
                return descriptor

    def _parts(self, count: int) -> Parts:
        parts, at = [], _room(8 * count)
        for (size,) in struct.iter_unpack("q", self._mapped[: 8 * count]):
            parts.append(self._mapped[at : at + size])
            at += _room(size)
        return parts

    def close(self) -> None:
        """Close this end, which the other one notices."""
        self._socket.close()


def is_large(parts: Parts) -> bool:
    """Whether a message with these parts lies in memory."""
    return len(parts) > 1 or len(parts[0]) > LARGEST_INLINE_BYTES


def _room(nbytes: int) -> int:
    """The bytes that a part takes in memory."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT

"""Messages between two processes of one machine: small ones through a socket, large ones in memory that both map.

A message has two parts, a pickle and the large arrays in it, which are not pickled (protocol 5). A sender copies a
large message into memory once, for all who receive it. They read it there without a copy.
"""

import mmap
import os
import pickle
import socket
import struct
import weakref
from typing import Any

# A message of more bytes lies in memory. Of an array with more bytes, the pickle holds a reference only.
_LARGEST_INLINE_BYTES = 16 * 1024
_PACKET_BYTES = 2 * _LARGEST_INLINE_BYTES
_INLINE, _MAPPED, _MEMORY = b"ipm"  # kinds of packets: a message, the number of its parts in memory, new memory
_ALIGNMENT = 64  # of a part in memory: a cache line

# A pickle, and the large arrays of the value in order.
Parts = list[memoryview]


class Memory:
    """Memory without a name, which is gone when nobody maps it any more."""

    def __init__(self, nbytes: int) -> None:
        self.descriptor = os.memfd_create("actors")
        weakref.finalize(self, os.close, self.descriptor)
        os.ftruncate(self.descriptor, nbytes)
        self.view = memoryview(mmap.mmap(self.descriptor, nbytes))


class Outbox:
    """Makes packets of messages. Those that are large lie in the same memory, one after the other."""

    def __init__(self) -> None:
        self.memory: Memory | None = None

    def packet(self, parts: Parts) -> bytes:
        """The packet of a message. It overwrites the last large one."""
        if not is_large(parts):
            return bytes((_INLINE,)) + parts[0]
        sizes = [part.nbytes for part in parts]
        table = memoryview(struct.pack(f"{len(sizes)}q", *sizes))
        needed = sum(map(_room, [table.nbytes, *sizes]))
        if self.memory is None or self.memory.view.nbytes < needed:
            self.memory = Memory(needed)
        at = 0
        for part in (table, *parts):
            self.memory.view[at : at + part.nbytes] = part
            at += _room(part.nbytes)
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
        """Let `receive` raise BlockingIOError when it has waited for so long."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))

    def send(self, packet: bytes, memory: Memory | None, note: bool = False) -> None:
        """Send a packet of an outbox with this memory. Raises an OSError if nobody is there to receive it."""
        if packet[0] == _MAPPED and memory is not None and memory is not self._shown:
            self._socket.send(bytes((False, _MEMORY)))
            socket.send_fds(self._socket, [bytes((_MEMORY,))], [memory.descriptor])
            self._shown = memory
        self._socket.send(bytes((note,)) + packet)

    def receive(self) -> tuple[Parts, bool]:
        """Wait for the next message: its parts, for `value_of` before the next one, and the note with it.

        Raises an OSError when the other end is closed.
        """
        size = self._socket.recv_into(self._buffer)
        if size and self._buffer[1] == _MEMORY:
            _, (descriptor,), *_ = socket.recv_fds(self._socket, 1, 1)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, which this closes
                self._mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            size = self._socket.recv_into(self._buffer)
        if not size:
            raise ConnectionResetError("the other end is closed")
        note, content = bool(self._buffer[0]), self._received[2:size]
        return ([content] if self._buffer[1] == _INLINE else self._parts(*struct.unpack("q", content))), note

    def _parts(self, count: int) -> Parts:
        parts, at = [], _room(8 * count)
        for (size,) in struct.iter_unpack("q", self._mapped[: 8 * count]):
            parts.append(self._mapped[at : at + size])
            at += _room(size)
        return parts

    def close(self) -> None:
        """Close this end, which the other one notices."""
        self._socket.close()


def parts_of(value: Any) -> Parts:
    """The parts of a message with a value."""
    large: Parts = []

    def stays(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        is_small = raw.nbytes <= _LARGEST_INLINE_BYTES
        if not is_small:
            large.append(raw)
        return is_small

    head = pickle.dumps(value, protocol=5, buffer_callback=stays)
    return [memoryview(head), *large]


def value_of(parts: Parts) -> Any:
    """The value again. Its large arrays are read-only, and lie in memory of the sender's."""
    return pickle.loads(parts[0], buffers=parts[1:])


def is_large(parts: Parts) -> bool:
    """Whether a message with these parts lies in memory."""
    return len(parts) > 1 or parts[0].nbytes > _LARGEST_INLINE_BYTES


def _room(nbytes: int) -> int:
    """The bytes that a part takes in memory."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT

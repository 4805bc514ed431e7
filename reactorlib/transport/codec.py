"""Values to messages and back, for one worker. What a value's type is, it is again after decoding, exactly.

A structure that comes back gets functions of its own (see codec_compiler). Everything else is pickled, with buffers
out of band. Large arrays and bytes are placed beside the message and read where they are: read-only, valid for as
long as anything refers to them. (A torch tensor cannot be read-only, but must be treated as if it were.)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from reactorlib.transport import pickling
from reactorlib.transport.codec_compiler import CodecCompiler, Decode, Encode
from reactorlib.transport.copying import ENCLOSED, HEAD, PICKLED, REFERENCE, Placed, Placing
from reactorlib.transport.encoding_site import Site
from reactorlib.transport.lending import Lending
from reactorlib.transport.structure import Structure, has_large_arrays, pack, unpack

UNIT = 8  # the prefix that names a structure begins with its length in units, which is more than ENCLOSED
LONGEST_PREFIX = 255 * UNIT
STRUCTURES = 1000  # compiled at most
_PREFIX = struct.Struct("<BBHHH")  # length in units, nothing, owner, length of the structure, nothing


class Codec:
    """Encodes for others what its worker places, decodes what others placed. For one thread.

    `lenders`, by number of the other worker, make buffers over what that worker placed.
    """

    def __init__(self, placing: Placing, lenders: Sequence[Lending]) -> None:
        self.me = placing.worker
        self._placing = placing
        self._lenders = lenders
        self._encoders: dict[Structure, Encode] = {}
        self._decoders: dict[bytes, Decode] = {}
        self._seen: set[Structure] = set()  # once
        self._encoder_of: dict[tuple[type, tuple[int, ...]], Callable[[Any], bytes]] = {}

    def close(self) -> None:
        """Let go of what the functions refer to: free-threaded Python 3.13 never frees a function."""
        for function in (*self._encoders.values(), *self._decoders.values()):
            function.__globals__.clear()

    # Encoding

    def encoder(self, receivers: Sequence[int]) -> Callable[[Any], bytes]:
        """`encode` for the values of one place, which come in few structures: the fastest way."""
        return Site(tuple(receivers), self._compiled, self._pickled).encoder()

    def encode(self, value: Any, receivers: Sequence[int]) -> bytes:
        """The message that each receiver decodes once. WorkerError: it cannot be pickled, or memory is full."""
        key = type(value), tuple(receivers)
        encoder = self._encoder_of.get(key)
        if encoder is None:
            encoder = self._encoder_of[key] = self.encoder(receivers)
        return encoder(value)

    def _compiled(self, structure: Structure) -> Encode | None:
        """The encoder of a structure; None when there are too many, or it is new and small: it may never come back."""
        known = self._encoders.get(structure)
        if known is not None or len(self._encoders) >= STRUCTURES:
            return known
        if structure not in self._seen and not has_large_arrays(structure):
            if len(self._seen) >= STRUCTURES:
                self._seen.clear()
            self._seen.add(structure)
            return None
        self._seen.discard(structure)
        prefix = _prefix(self.me, structure)
        if len(prefix) > LONGEST_PREFIX:
            return None
        encode = self._encoders[structure] = CodecCompiler(structure, prefix).encoder(self._placing)
        return encode

    def _pickled(self, value: Any, receivers: Sequence[int]) -> bytes:
        placed: Placed = []
        try:
            return self._placing.send_off(self._placing.pickled(value, placed), placed, receivers)
        except BaseException:
            self._placing.commit(placed, ())
            raise

    # Decoding

    def decode(self, message: bytes) -> Any:
        """The value of a message, once: a second decoding would release its memory twice. WorkerError: see loads."""
        units = message[0]
        if units > ENCLOSED:
            prefix = message[: units * UNIT]
            return (self._decoders.get(prefix) or self._learn(prefix))(message)
        if units == PICKLED:
            return self._unpickled(message)
        owner = HEAD.unpack_from(message)[2]
        inner = self._lent(owner, message, HEAD.size)
        if inner[0] == PICKLED:
            return self._unpickled(inner)
        prefix = bytes(inner[: inner[0] * UNIT])
        return (self._decoders.get(prefix) or self._learn(prefix))(inner)

    def decoder(self) -> Callable[[bytes], Any]:
        """`decode` for the messages of one place: looks first whether one has the structure of the one before."""
        prefix: bytes = b""
        latest: Decode = self.decode

        def decode(message: bytes) -> Any:
            nonlocal prefix, latest
            if prefix and message.startswith(prefix):
                return latest(message)
            units = message[0]
            if units <= ENCLOSED:
                return self.decode(message)
            prefix = message[: units * UNIT]
            latest = self._decoders.get(prefix) or self._learn(prefix)
            return latest(message)

        return decode

    def _unpickled(self, message: bytes | memoryview) -> Any:
        _, _, owner, count = HEAD.unpack_from(message)
        body = HEAD.size + count * REFERENCE.size
        buffers = [self._lent(owner, message, at) for at in range(HEAD.size, body, REFERENCE.size)]
        return pickling.loads(memoryview(message)[body:], buffers, owner)

    def _lent(self, owner: int, message: bytes | memoryview, at: int) -> memoryview:
        first, offset, room, nbytes = REFERENCE.unpack_from(message, at)
        return self._lenders[owner].lend(first, offset, room).cast("B")[:nbytes]

    def _learn(self, prefix: bytes) -> Decode:
        _, _, owner, length, _ = _PREFIX.unpack_from(prefix)
        structure = unpack(prefix[_PREFIX.size : _PREFIX.size + length])
        decode = CodecCompiler(structure, prefix).decoder(self._lenders[owner], self._unpickled)
        self._decoders[prefix] = decode
        return decode


def _prefix(owner: int, structure: Structure) -> bytes:
    packed = pack(structure)
    units = -(-(_PREFIX.size + len(packed)) // UNIT)
    return (_PREFIX.pack(units & 0xFF, 0, owner, len(packed) & 0xFFFF, 0) + packed).ljust(units * UNIT, b"\0")

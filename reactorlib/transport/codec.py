"""Values to messages and back, for one worker. What a value's type is, it is again after decoding, exactly.

A structure that comes back gets functions of its own (see generator). Everything else is pickled, with buffers
out of band. Large arrays and bytes are put into the worker's arena with one copy, or none if they lie there
already, and read where they are: read-only, valid for as long as anything refers to them.
"""

from __future__ import annotations

import copyreg
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from ctypes import addressof, c_ubyte
from importlib import import_module
from io import BytesIO
from pickle import PickleBuffer
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.arena import Arena, Block, room_of
from reactorlib.transport.generator import Decode, Encode, Generator
from reactorlib.transport.lending import Lender
from reactorlib.transport.structure import (
    BIG,
    SHORT,
    Describer,
    Structure,
    TooLargeError,
    array_of,
    has_large_arrays,
    pack,
    unpack,
)  # fmt: skip

UNIT = 8  # a prefix begins with its length in units
PICKLED, ENCLOSED = 0, 1  # in place of that length
LONGEST_PREFIX = 255 * UNIT
STRUCTURES = 1000  # compiled at most, by one codec
TRIED = 4  # of the structures of one encoder
SHAPES = 8  # structures after which an encoder takes arrays of all shapes as one
PATIENCE = 200  # values of unknown structure after which an encoder pickles

_HEAD = struct.Struct("<BBHI")  # PICKLED or ENCLOSED, nothing, owner, number of references
_REFERENCE = struct.Struct("<QQQQ")  # a Reference, bytes

Placed = list[Block]
Reference = tuple[int, int, int]  # first release count, offset in memory, room


class Codec:
    """Encodes for others with the arena of worker `me`, decodes what others placed in theirs. One thread only."""

    def __init__(self, arenas: Sequence[Arena], me: int) -> None:
        self.arena = arena = arenas[me]
        self.me = me
        self._lenders = [Lender(owned, me) for owned in arenas]
        self._map = arena.memory.map
        self._encoders: dict[Structure, Encode] = {}
        self._decoders: dict[bytes, Decode] = {}
        self._seen: set[Structure] = set()
        self._encoder_of: dict[tuple[type, tuple[int, ...]], Callable[[Any], bytes]] = {}
        self._reducers: dict[type, Callable[[Any], Any]] = {}

    # Encoding

    def encoder(self, receivers: Sequence[int]) -> Callable[[Any], bytes]:
        """A function that encodes the values of one place, which come in few structures: the fastest way."""
        site = Site(self, tuple(receivers))
        receivers = site.receivers
        first: Encode = _refuse

        def encode(value: Any) -> bytes:
            nonlocal first
            try:
                message = first(value, receivers)
            except struct.error:  # an int of more than 64 bits
                return self.pickle(value, receivers)
            if message is None:
                message, first = site.encode(value, first)
            return message

        return encode

    def encode(self, value: Any, receivers: Sequence[int]) -> bytes:
        """The message that each receiver decodes once. WorkerError: it cannot be pickled, or memory is full."""
        key = type(value), tuple(receivers)
        encoder = self._encoder_of.get(key)
        if encoder is None:
            encoder = self._encoder_of[key] = self.encoder(receivers)
        return encoder(value)

    def compiled(self, structure: Structure) -> Encode | None:
        """The encoder of a structure; None when there are too many, or it is new and small: it may never come back."""
        encode = self._encoders.get(structure)
        if encode is not None or len(self._encoders) >= STRUCTURES:
            return encode
        if structure not in self._seen and not has_large_arrays(structure):
            if len(self._seen) > STRUCTURES:
                self._seen.clear()
            self._seen.add(structure)
            return None
        prefix = prefix_of(self.me, structure)
        if prefix is None:
            return None
        self._seen.discard(structure)
        generator = Generator(structure, prefix)
        text, _ = generator.source()
        names = generator.names | {
            "place_array": self._place_array, "place_bytes": self._place_bytes, "pickled": self._pickled,
            "send_off": self._send_off, "drop": self.arena.drop,
        }  # fmt: skip
        compiled: Encode = _load(text, "encode", names)
        self._encoders[structure] = compiled
        return compiled

    def pickle(self, value: Any, receivers: Sequence[int]) -> bytes:
        """The message of a value of any structure."""
        placed: Placed = []
        try:
            return self._send_off(self._pickled(value, placed), placed, receivers)
        except BaseException:
            self.arena.drop(placed)
            raise

    def _pickled(self, value: Any, placed: Placed) -> bytes:
        references: list[bytes] = []

        def out_of_band(buffer: PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < BIG:
                return True
            references.append(_REFERENCE.pack(*self._place_raw(raw, placed), raw.nbytes))
            return False

        try:
            body = self._dumps(value, out_of_band)
        except WorkerError:
            raise
        except Exception as error:
            raise WorkerError(
                f"a value of type {type_name(value)} cannot travel to another worker: {type(error).__name__}: {error}"
            ) from error
        return b"".join((_HEAD.pack(PICKLED, 0, self.me, len(references)), *references, body))

    def _dumps(self, value: Any, out_of_band: Callable[[PickleBuffer], bool]) -> bytes:
        if "torch" not in sys.modules:
            return pickle.dumps(value, 5, buffer_callback=out_of_band)
        if not self._reducers:
            self._reducers = {import_module("torch").Tensor: reduce_tensor}
        stream = BytesIO()
        pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
        pickler.dispatch_table = copyreg.dispatch_table | self._reducers
        pickler.dump(value)
        return stream.getvalue()

    def _place_array(self, array: Any, placed: Placed) -> Reference:
        if array.flags.c_contiguous:
            if array.base is not None:
                found = self.arena.block_at(array.__array_interface__["data"][0], array.nbytes)
                if found is not None:
                    array.flags.writeable = False  # from now on readers see it
                    placed.append(found[0])
                    return found[0].first, found[1], room_of(array.nbytes)
            block = self.arena.take(array.nbytes)
            placed.append(block)
            self._map[block.offset : block.offset + array.nbytes] = array
        else:
            block = self.arena.take(array.nbytes)
            placed.append(block)
            numpy = sys.modules["numpy"]
            numpy.copyto(numpy.ndarray(array.shape, array.dtype, self._map, block.offset), array)
        return block.first, block.offset, block.room

    def _place_bytes(self, data: Any, placed: Placed) -> Reference:
        block = self.arena.take(len(data))
        placed.append(block)
        self._map[block.offset : block.offset + len(data)] = data
        return block.first, block.offset, block.room

    def _place_raw(self, raw: memoryview, placed: Placed) -> Reference:
        if not raw.readonly:
            found = self.arena.block_at(addressof(c_ubyte.from_buffer(raw)), raw.nbytes)
            if found is not None:
                placed.append(found[0])
                return found[0].first, found[1], room_of(raw.nbytes)
        return self._place_bytes(raw, placed)

    def _send_off(self, message: bytes, placed: Placed, receivers: Sequence[int]) -> bytes:
        if len(message) > SHORT:
            reference = self._place_bytes(message, placed)
            message = _HEAD.pack(ENCLOSED, 0, self.me, 1) + _REFERENCE.pack(*reference, len(message))
        self.arena.commit(placed, receivers)
        return message

    # Decoding

    def decode(self, message: bytes) -> Any:
        """The value of a message, once: a second decoding would release its memory twice."""
        units = message[0]
        if units > ENCLOSED:
            decode = self._decoders.get(message[: units * UNIT])
            return (decode or self._learn(message[: units * UNIT]))(message)
        if units == PICKLED:
            return self._unpickled(message)
        inner = self._enclosed(message)
        if inner[0] == PICKLED:
            return self._unpickled(inner)
        prefix = bytes(inner[: inner[0] * UNIT])
        return (self._decoders.get(prefix) or self._learn(prefix))(inner)

    def discard(self, message: bytes) -> None:
        """Release the memory of a message that nobody will decode."""
        self.decode(message)

    def _enclosed(self, message: bytes) -> memoryview:
        _, _, owner, _ = _HEAD.unpack_from(message)
        return self._lent(owner, message, _HEAD.size)

    def _lent(self, owner: int, message: bytes | memoryview, at: int) -> memoryview:
        first, offset, room, nbytes = _REFERENCE.unpack_from(message, at)
        return self._lenders[owner].lend(first, offset, room).cast("B")[:nbytes]

    def _unpickled(self, message: bytes | memoryview) -> Any:
        _, _, owner, count = _HEAD.unpack_from(message)
        at = _HEAD.size
        buffers = []
        for _ in range(count):
            buffers.append(self._lent(owner, message, at))
            at += _REFERENCE.size
        try:
            return pickle.loads(memoryview(message)[at:], buffers=buffers)
        except Exception as error:
            raise WorkerError(
                f"a value from worker {owner} cannot be rebuilt here: {type(error).__name__}: {error}"
            ) from error

    def _learn(self, prefix: bytes) -> Decode:
        owner, length = struct.unpack_from("<HH", prefix, 2)
        structure = unpack(prefix[8 : 8 + length])
        generator = Generator(structure, prefix)
        _, text = generator.source()
        names = generator.names | {
            "lend": self._lenders[owner].lend,
            "borrow": self._lenders[owner].borrow,
            "unpickled": self._unpickled,
        }
        compiled: Decode = _load(text, "decode", names)
        self._decoders[prefix] = compiled
        return compiled


class Site:
    """The structures that the values of one place have had; the encoder of the latest is kept by the caller."""

    __slots__ = ("_codec", "_known", "_misses", "_rest", "receivers")

    def __init__(self, codec: Codec, receivers: tuple[int, ...]) -> None:
        self.receivers = receivers
        self._codec = codec
        self._rest: list[Encode] = []
        self._known = 0
        self._misses = 0

    def encode(self, value: Any, refused: Encode) -> tuple[bytes, Encode]:
        """The message of a value that `refused` has refused, and the encoder to begin with next time."""
        try:
            for number, encode in enumerate(self._rest):
                message = encode(value, self.receivers)
                if message is not None:
                    self._rest[number] = refused
                    return message, encode
            found = self._describe(value)
            if found is not None:
                message = found(value, self.receivers)
                if message is not None:
                    self._rest = [refused, *self._rest[: TRIED - 2]] if refused is not _refuse else []
                    return message, found
        except struct.error:
            pass
        return self._codec.pickle(value, self.receivers), refused

    def _describe(self, value: Any) -> Encode | None:
        if self._misses >= PATIENCE:
            return None
        self._misses += 1
        try:
            structure = Describer(loose=self._known > SHAPES).describe(value)
        except (TooLargeError, RecursionError):
            return None
        if structure == "o":
            self._misses += PATIENCE // 20  # will hardly become better
            return None
        encode = self._codec.compiled(structure)
        if encode is not None:
            self._known += 1
        return encode


def _refuse(_value: Any, _receivers: Any) -> bytes | None:
    return None


def prefix_of(owner: int, structure: Structure) -> bytes | None:
    """What messages of a structure begin with: length in units, owner, length of the structure, the structure."""
    packed = pack(structure)
    units = -(-(8 + len(packed)) // UNIT)
    if units * UNIT > LONGEST_PREFIX:
        return None
    return (struct.pack("<BBHHH", units, 0, owner, len(packed), 0) + packed).ljust(units * UNIT, b"\0")


def type_name(value: Any) -> str:
    """The full name of a value's type, as an error message gives it."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def reduce_tensor(tensor: Any) -> Any:
    """Pickle a tensor through its NumPy view; by torch's own way where it has none."""
    if type(tensor) is import_module("torch").Tensor:
        array = array_of(tensor)
        if array is not None:
            return rebuild_tensor, (array,)
    return tensor.__reduce_ex__(5)


def rebuild_tensor(array: Any) -> Any:
    """A tensor over the memory of an array, which may be read-only: then it must not be written."""
    if array.flags.writeable:
        return import_module("torch").from_numpy(array)
    return import_module("torch").from_numpy(array.copy())


def _load(text: str, name: str, names: dict[str, Any]) -> Any:
    namespace = dict(names)
    exec(compile(text, f"<{name} of a structure>", "exec"), namespace)
    return namespace[name]

"""Values to messages and back, for one worker. A value keeps its exact type; see structure.py.

A message has one of four forms, which its first byte names:

    PICKLED    HEAD, references to blocks, a pickle: any value
    BY_COLUMN  HEAD with the length of a plan, the plan, arrays: a value of many parts (columns.py)
    ENCLOSED   HEAD, one reference: the message itself is in a block
    else       the length of a prefix in UNITs: HEAD, the structure; compiled code reads the rest (codec_compiler.py)

All shapes are remembered here: the structures that this worker has met, their functions, the latest ones of each place
that sends again and again. Large arrays and bytes are read where they lie: read-only, valid as long as anything refers
to them. A torch tensor cannot be read-only, but must be treated as if it were.
"""

from __future__ import annotations

import copyreg
import pickle
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from pickle import PickleBuffer
from typing import Any

from reactorlib.errors import WorkerError, type_name, words_of
from reactorlib.transport import generated
from reactorlib.transport.arrays import array_of, laid_over, spanned, tensor_over
from reactorlib.transport.codec_compiler import LONGEST_MESSAGE, CodecCompiler, Decode, Encode
from reactorlib.transport.columns import Given, taken_apart
from reactorlib.transport.structure import LARGE_BYTES, Describer, Structure, has_blocks

PICKLED, ENCLOSED, BY_COLUMN = 0, 1, 2
HEAD = struct.Struct("<BBHI")  # form, nothing, sender, number of references
REFERENCE = struct.Struct("<QQQQ")  # see Reference, and its bytes
UNIT = 8
LONGEST_PREFIX = 255 * UNIT
STRUCTURES = 1000  # that a worker remembers, which bounds memory
# Encoders of a place that are tried before a value is described. A refusal takes 0.1 us, a description 10 us.
RECENT = 4
LOOSE = 8  # structures of a place after which small arrays of all shapes have one structure
# After PATIENCE descriptions of a place's values, one in SELDOM of the values that its encoders refuse is described. A
# description that finds no structure counts as IN_VAIN: it takes up to 0.5 ms.
PATIENCE, SELDOM, IN_VAIN = 200, 64, 10

OutOfBand = Callable[[PickleBuffer], bool]  # takes a buffer, or returns True to leave it in the pickle
Placed = list[Any]  # the memory that one message refers to
Reference = tuple[int, int, int]  # how a receiver finds a part: in shared memory release count, offset, room


class Placing(ABC):
    """Takes the large parts of a worker's messages. They are collected in `placed` until `commit`."""

    def __init__(self, worker: int) -> None:
        self.worker = worker

    @abstractmethod
    def array(self, array: Any, placed: Placed) -> Reference:
        """Place a NumPy array. An array in a buffer from `allocate` is read-only from now on: readers see it."""

    @abstractmethod
    def buffer(self, data: bytes | memoryview, placed: Placed) -> Reference:
        """Place bytes, or a one-dimensional buffer of an object that is pickled."""

    @abstractmethod
    def commit(self, placed: Placed, receivers: Sequence[int]) -> None:
        """The parts are on their way to these receivers. Without any, the message will not be sent."""


# Makes a writable buffer from a Reference to what one other worker placed, of `room` bytes or of as many as there are.
Borrow = Callable[[int, int, int], Any]


def read_only(borrow: Borrow, first: int, offset: int, room: int) -> memoryview:
    """The read-only form of such a buffer, for all but tensors and batches."""
    return memoryview(borrow(first, offset, room)).toreadonly().cast("B")


class Codec:
    """Encodes for others what its worker sends, decodes what others sent. For one thread.

    `lenders`, by number of the other worker, make buffers over what that worker placed.
    """

    def __init__(self, placing: Placing, lenders: Mapping[int, Borrow]) -> None:
        self._placing = placing
        self._lenders = lenders
        self._encoders: dict[Structure, Encode | None] = {}  # None: met once
        self._decoders: dict[bytes, Decode] = {}  # by prefix
        self._is_plain = True  # the latest value without functions of its own had no arrays
        self._places: dict[tuple[int, ...], Callable[[Any], bytes]] = {}

    def close(self) -> None:
        """Let go of what the functions refer to."""
        for function in (*self._encoders.values(), *self._decoders.values()):
            if function is not None:
                generated.emptied(function)

    def encode(self, value: Any, receivers: Sequence[int]) -> bytes:
        """The message that each receiver decodes once. WorkerError: it cannot be pickled, or memory is full."""
        key = tuple(receivers)
        encode = self._places.get(key)
        if encode is None:
            encode = self._places[key] = self.encoder(key)
        return encode(value)

    def encoder(self, receivers: Sequence[int]) -> Callable[[Any], bytes]:
        """`encode` for the values of one place. It begins with the encoder of the latest structure."""
        receivers, other = tuple(receivers), _Place(self, tuple(receivers)).encode
        latest: Encode = _refuse

        def encode(value: Any) -> bytes:
            nonlocal latest
            try:
                message = latest(value, receivers)
                if message is None:
                    message, latest = other(value, latest)
            except struct.error:  # an int of more than 64 bits
                return self.whole(value, receivers)
            return message

        return encode

    def compiled(self, structure: Structure) -> Encode | None:
        """The encoder of a structure; None for one that is new and has no blocks, as it may never come back."""
        encode = self._encoders.get(structure)
        if encode is not None:
            return encode
        if len(self._encoders) >= STRUCTURES:
            self._encoders = {one: encode for one, encode in self._encoders.items() if encode is not None}
        if len(self._encoders) >= STRUCTURES:
            return None
        if structure not in self._encoders and not has_blocks(structure):
            self._encoders[structure] = None
            return None
        packed = pickle.dumps(structure, 5)
        units = -(-(HEAD.size + len(packed)) // UNIT)
        if units * UNIT > LONGEST_PREFIX:
            return None
        prefix = (HEAD.pack(units, 0, self._placing.worker, 0) + packed).ljust(units * UNIT, b"\0")
        encode = self._encoders[structure] = CodecCompiler(structure, prefix).encoder(
            array=self._placing.array, buffer=self._placing.buffer, pickled=self._whole, finish=self._finish,
            commit=self._placing.commit,
        )  # fmt: skip
        return encode

    def whole(self, value: Any, receivers: Sequence[int]) -> bytes:
        """The message of a value of any structure: by column, or else as a pickle."""
        placed: Placed = []
        try:
            return self._finish(self._whole(value, placed), placed, receivers)
        except BaseException:
            self._placing.commit(placed, ())
            raise

    def _whole(self, value: Any, placed: Placed) -> bytes:
        if self._is_plain:
            with suppress(BufferMetError):  # pickle is the fastest where it meets no array
                return HEAD.pack(PICKLED, 0, self._placing.worker, 0) + dumps(value, no_buffer)
        taken = taken_apart(value)
        self._is_plain = taken is not None and not taken.has_arrays
        if taken is None:
            return self._pickled(value, placed)
        head = partial(HEAD.pack, BY_COLUMN, 0, self._placing.worker)
        return taken.message(head, partial(self._placing.array, placed=placed))

    def _pickled(self, value: Any, placed: Placed) -> bytes:
        references: list[bytes] = []

        def out_of_band(buffer: PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < LARGE_BYTES:
                return True
            references.append(REFERENCE.pack(*self._placing.buffer(raw, placed), raw.nbytes))
            return False

        body = dumps(value, out_of_band)
        return b"".join((HEAD.pack(PICKLED, 0, self._placing.worker, len(references)), *references, body))

    def _finish(self, message: bytes, placed: Placed, receivers: Sequence[int]) -> bytes:
        """The message, or a short one that refers to it. Its parts are now on their way to the receivers."""
        if len(message) > LONGEST_MESSAGE:
            reference = self._placing.buffer(message, placed)
            message = HEAD.pack(ENCLOSED, 0, self._placing.worker, 1) + REFERENCE.pack(*reference, len(message))
        self._placing.commit(placed, receivers)
        return message

    def decode(self, message: bytes | memoryview) -> Any:
        """The value of a message, once: a second decoding would release its blocks twice. WorkerError: see loads.

        Bytes behind the value are ignored: messengers append some.
        """
        form = message[0]
        if form > BY_COLUMN:
            return self._decoder_of(bytes(message[: form * UNIT]))(message)
        _, _, sender, count = HEAD.unpack_from(message)
        if form == ENCLOSED:
            return self.decode(self._lent(sender, message, HEAD.size))
        if form == BY_COLUMN:
            borrow = self._lenders[sender]
            return Given(message, HEAD.size, count, partial(read_only, borrow), borrow).value
        body = HEAD.size + count * REFERENCE.size
        buffers = [self._lent(sender, message, at) for at in range(HEAD.size, body, REFERENCE.size)]
        return loads(memoryview(message)[body:], buffers, sender)

    def decoder(self) -> Callable[[bytes], Any]:
        """`decode` for the messages of one place. It begins with the decoder of the latest structure."""
        prefix: bytes = b""
        latest: Decode = self.decode

        def decode(message: bytes) -> Any:
            nonlocal prefix, latest
            if prefix and message.startswith(prefix):
                return latest(message)
            form = message[0]
            if form <= BY_COLUMN:
                return self.decode(message)
            prefix = message[: form * UNIT]
            latest = self._decoder_of(prefix)
            return latest(message)

        return decode

    def _lent(self, sender: int, message: bytes | memoryview, at: int) -> memoryview:
        first, offset, room, nbytes = REFERENCE.unpack_from(message, at)
        return read_only(self._lenders[sender], first, offset, room)[:nbytes]

    def _decoder_of(self, prefix: bytes) -> Decode:
        decode = self._decoders.get(prefix)
        if decode is None:
            borrow = self._lenders[HEAD.unpack_from(prefix)[2]]
            compiler = CodecCompiler(pickle.loads(prefix[HEAD.size :]), prefix)
            decode = compiler.decoder(lend=partial(read_only, borrow), borrow=borrow, unpickled=self.decode)
            self._decoders[prefix] = decode
        return decode


class _Place:
    """One place in a program whose values are encoded: its recent encoders, but for the latest."""

    def __init__(self, codec: Codec, receivers: tuple[int, ...]) -> None:
        self._codec = codec
        self._receivers = receivers
        self._recent: list[Encode] = []
        self._described = 0
        self._refused = 0
        self._known = 0

    def encode(self, value: Any, latest: Encode) -> tuple[bytes, Encode]:
        """The message of a value that `latest` refuses, and the encoder to begin with next time."""
        for number, encode in enumerate(self._recent):
            message = encode(value, self._receivers)
            if message is not None:
                self._recent[number] = latest
                return message, encode
        found = self._compiled(value)
        message = found and found(value, self._receivers)
        if found is None or message is None:
            return self._codec.whole(value, self._receivers), latest
        if latest is not _refuse:
            self._recent = [latest, *self._recent[: RECENT - 2]]
        return message, found

    def _compiled(self, value: Any) -> Encode | None:
        self._refused += 1
        if self._described >= PATIENCE and self._refused % SELDOM:
            return None
        structure = Describer(loose=self._known > LOOSE).describe(value)
        self._described += IN_VAIN if structure == "o" else 1
        encode = None if structure == "o" else self._codec.compiled(structure)
        self._known += encode is not None
        return encode


def _refuse(_value: Any, _receivers: Any) -> bytes | None:
    return None


# Pickles, protocol 5, with buffers out of band, torch tensors included


def dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    """The pickle of a value. WorkerError when it has none."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    try:
        if numpy is None:
            return pickle.dumps(value, 5, buffer_callback=out_of_band)
        stream = BytesIO()
        pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
        pickler.dispatch_table = {**copyreg.dispatch_table, numpy.ndarray: _reduce_array}
        if torch is not None:
            pickler.dispatch_table[torch.Tensor] = _reduce_tensor
        pickler.dump(value)
        return stream.getvalue()
    except (WorkerError, BufferMetError):
        raise
    except Exception as error:
        raise WorkerError(
            f"a value of type {type_name(value)} cannot travel to another worker: "
            f"{type(error).__name__}: {words_of(error)}"
        ) from error


class BufferMetError(Exception):
    """A pickle was broken off at its first array, tensor or other buffer."""


def no_buffer(_buffer: PickleBuffer) -> bool:
    """Break off a pickle that is not of plain values alone."""
    raise BufferMetError


def pickled(value: Any) -> bytes:
    """A pickle that is whole by itself. Arrays keep their order in memory, tensors travel in torch's own way."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return pickle.dumps(value, 5)
    stream = BytesIO()
    pickler = pickle.Pickler(stream, 5)
    pickler.dispatch_table = {**copyreg.dispatch_table, numpy.ndarray: _reduce_array}
    pickler.dump(value)
    return stream.getvalue()


def loads(data: Any, buffers: list[memoryview], sender: int) -> Any:
    """The value of a pickle. WorkerError when it cannot be built in this process."""
    try:
        return pickle.loads(data, buffers=buffers)
    except Exception as error:
        raise WorkerError(
            f"a value from worker {sender} cannot be rebuilt here: {type(error).__name__}: {words_of(error)}"
        ) from error


# Arrays and tensors: their own ways would lose the order in memory, or copy each into the pickle


def _reduce_array(array: Any) -> Any:
    if array.flags.forc or array.dtype.hasobject:
        return array.__reduce_ex__(5)
    memory, layout = spanned(array)
    return laid_over, (memory, *layout)


def _reduce_tensor(tensor: Any) -> Any:
    if tensor.grad_fn is not None:
        raise TypeError(
            "it is part of a graph of gradients, which stays in its process; set tensor.detach(), and compute "
            "gradients where the graph is"
        )
    array = array_of(tensor)
    if array is None or vars(tensor):
        return tensor.__reduce_ex__(5)
    return tensor_over, (array,) if array.flags.c_contiguous else spanned(array, exact=True)

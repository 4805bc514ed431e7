"""Messages of one worker: cells to messages and back, by functions written for the cells of one place, line by line.

At every tag a message has the encoded values of the present cells. It also has a bit for the presence of each cell
(in whole bytes), and one byte for its kind. The end is read first, so that a message in which every cell is present
is decoded where it lies. Cells go by number in the source: no name of the program is in it. Threads share cells:
their messages carry no values, and everything else is handed over as it is.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import compress
from operator import attrgetter
from typing import Any, Protocol

from reactorlib.elaboration.records import Cell
from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure, PortableFailure
from reactorlib.executors.mailbox import Mailbox
from reactorlib.executors.protocol import CONTROL, POISONED, SCHEDULED, SCHEDULED_TAIL, SYNC
from reactorlib.transport import generated
from reactorlib.transport.codec import Codec, pickled
from reactorlib.worker.cells import Buffers, Event, Reader
from reactorlib.worker.worker import Call

# Cells that are written out, which takes half as long as a loop: 0.20 us for 7 cells instead of 0.41 us. Of more cells
# the source would grow, and the loop's own cost no longer counts.
WRITTEN_OUT = 64

# Statements of the functions, with placeholders for what is written of each cell.
_PACK = """
            if {all_present}:
                return code(({values},)) + whole
            return some()"""
_UNPACK = """
            if message[-{size}:-1] == whole:
                {values}, = code(message)
                {each_present} = True
            else:
                some(message)"""
_ENCODE = "return code(({values},))"
_FILL = "{values}, = code(message)"


_value, _is_present = attrgetter("value"), attrgetter("is_present")
_DIGITS, _FLAGS = bytes.maketrans(b"\0\1", b"01"), bytes.maketrans(b"01", b"\0\1")


class Transport(Protocol):
    """One worker's end of shared memory or of MPI.

    Messages of a pair of workers arrive in the order in which they were sent.
    """

    @property
    def codec(self) -> Codec:
        """Encodes values that this worker sends, and decodes those that it receives."""

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        """A function that sends a message to another worker."""

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        """A function that waits for the next message of another worker. It ends with the error of a failed check."""

    def allocate(self, nbytes: int) -> Any:
        """A writable buffer that need not be copied to be sent."""

    def allocate_shared(self, nbytes: int) -> Any:
        """The same, where its receivers may write. WorkerError if workers share no memory."""


class Messenger:
    """One worker's end of a transport: packs cells into messages, unpacks messages into cells."""

    shares_cells = False

    def __init__(self, transport: Transport) -> None:
        self.codec = transport.codec
        self._transport = transport
        self.sender_to: Callable[[int], Callable[[Any], None]] = transport.sender_to
        self.receiver_from: Callable[[int], Callable[[], Any]] = transport.receiver_from

    def buffers(self, crossing: Container[Cell]) -> Buffers:
        """Memory for the values of these cells, from where they travel without a copy."""
        return Buffers(self._transport.allocate, self._transport.allocate_shared, crossing)

    # Messages that workers send now and then

    def tell(self, worker: int, name: str, *arguments: Any) -> None:
        self.sender_to(worker)(pickled((name, *arguments)) + bytes([CONTROL]))

    def fail(self, failure: Failure) -> None:
        self.tell(0, "failed", PortableFailure.of(failure))

    def control_of(self, message: Any) -> tuple[Any, ...]:
        """The name and the arguments of a control message. Of a message of a tag, a name that no receiver obeys."""
        if message[-1] != CONTROL:
            return ("of a tag",)
        name, *arguments = pickle.loads(message)  # ignores the last byte, the kind
        return (name, arguments[0].rebuilt()) if name == "failed" else (name, *arguments)

    def poison(self, worker: int) -> None:
        self.sender_to(worker)(POISONED)

    # Cells

    def packer(self, cells: Sequence[Reader], receivers: Sequence[int], kind: int) -> Callable[[], bytes]:
        """A function that makes a message of what these cells hold. It raises WorkerError with the path of a cell."""
        if self.shares_cells or not cells:
            return partial(bytes, [kind])
        count, ending, encode = len(cells), bytes([kind]), self.codec.encoder(receivers)

        def some() -> bytes:
            present = bytes(map(_is_present, cells))
            values = tuple(compress(map(_value, cells), present))
            return (encode(values) if values else b"") + _bits(present) + ending

        def blame(error: WorkerError) -> WorkerError:
            return self.blame([(cell.path, cell.value) for cell in cells if cell.is_present], error)

        statements = _PACK if count <= WRITTEN_OUT else "return some()"
        return _function("", statements, cells, encode, blame, some, _bits(b"\1" * count) + ending)

    def action_of_send(self, cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        """The action of a Send: all cells in one message."""
        pack, send = self.packer(cells, (receiver,), SYNC), self.sender_to(receiver)
        return partial(send, pack()) if self.shares_cells or not cells else lambda: send(pack())

    def unpacker(self, cells: Sequence[Reader]) -> Callable[[bytes], None] | None:
        """A function that makes present what the sender's cells held; None if there are none."""
        if self.shares_cells or not cells:
            return None
        count, decode = len(cells), self.codec.decoder()
        whole = _bits(b"\1" * count)

        def some(message: bytes) -> None:
            present = _present(message[-1 - len(whole) : -1], count)
            for cell, value in zip(compress(cells, present), decode(message) if 1 in present else (), strict=True):
                cell.value = value
                cell.is_present = True

        statements = _UNPACK if count <= WRITTEN_OUT else "some(message)"
        return _function("message", statements, cells, decode, _unreadable(cells), some, whole)

    def encoder(self, events: Sequence[Event], receivers: Sequence[int]) -> Callable[[], bytes]:
        """A function that encodes the values of these events, present or not. It adds no bits of presence."""

        def blame(error: WorkerError) -> WorkerError:
            return self.blame([(event.path, event.value) for event in events], error)

        return _function("", _ENCODE, events, self.codec.encoder(receivers), blame)

    def filler(self, events: Sequence[Event]) -> Callable[[bytes], None]:
        """A function that gives these events the values that such an encoder encoded, present or not."""
        return _function("message", _FILL, events, self.codec.decoder(), _unreadable(events))

    # Requests of reactions, with the message that ends a part

    def with_requests(self, done: bytes, requests: list[Call]) -> Any:
        return done + self.codec.encode(requests, (0,)) + SCHEDULED_TAIL.pack(len(done), SCHEDULED)

    def requests_of(self, message: Any) -> tuple[bytes, list[Call]]:
        length, _ = SCHEDULED_TAIL.unpack_from(message, len(message) - SCHEDULED_TAIL.size)
        return message[:length], self.codec.decode(message[length:])

    def blame(self, named: Iterable[tuple[str, Any]], error: WorkerError) -> WorkerError:
        """The error of the first of these values that cannot be encoded by itself, with the path that it goes to."""
        for path, value in named:
            try:
                self.codec.encode(value, ())
            except WorkerError as alone:
                return WorkerError(f"{path}: {alone}")
        return error


def _unreadable(cells: Sequence[Reader]) -> Callable[[WorkerError], WorkerError]:
    """Makes the error of a message for these cells that cannot be decoded, with their paths."""
    shown = ", ".join(cell.path for cell in cells[:3]) + (", ..." if len(cells) > 3 else "")
    return lambda error: WorkerError(f"{shown}: {error}")


def _bits(present: bytes) -> bytes:
    """A bit for each byte of 0 or 1."""
    return int(present[::-1].translate(_DIGITS), 2).to_bytes(_whole_bytes(len(present)), "little")


def _present(bits: bytes, count: int) -> bytes:
    """The bytes again."""
    digits = format(int.from_bytes(bits, "little"), f"0{count}b")
    return digits[::-1].encode().translate(_FLAGS)


def _whole_bytes(bits: int) -> int:
    return bits + 7 >> 3


def _function(
    argument: str,
    statements: str,
    cells: Sequence[Reader],
    code: Callable[[Any], Any],
    blame: Callable[[WorkerError], WorkerError],
    some: Callable[..., Any] | None = None,
    whole: bytes = b"",
) -> Callable[..., Any]:
    """The function with these statements. `code` encodes or decodes; `some` does what they leave to a loop."""
    count = len(cells) if "{" in statements else 0
    return _maker(argument, statements, count)(cells[:count], code, blame, some, whole, WorkerError)


@cache
def _maker(argument: str, statements: str, count: int) -> Callable[..., Callable[..., Any]]:
    names = [f"c{number}" for number in range(count)]
    written = statements.format(
        values=", ".join(f"{name}.value" for name in names),
        all_present=" and ".join(f"{name}.is_present" for name in names),
        each_present=" = ".join(f"{name}.is_present" for name in names),
        size=1 + _whole_bytes(count),
    )
    source = f"""
def make(cells, code, blame, some, whole, WorkerError):
    {", ".join(names)}{", = cells" if names else ""}
    def function({argument}):
        try:
            {written}
        except WorkerError as error:
            raise blame(error) from error.__cause__
    return function
"""
    make: Callable[..., Callable[..., Any]] = generated.loaded(f"messages of {count} cells", source, {}, "make")
    return make


class ThreadMessenger(Messenger):
    """One worker's end of the mailboxes between threads: `mail[sender, receiver]`.

    Cells are shared, so no values travel. A thread reads a cell that another one set after it took the message that was
    sent after the set.
    """

    shares_cells = True

    def __init__(self, mail: Mapping[tuple[int, int], Mailbox], me: int, check: Callable[[], None]) -> None:
        self.sender_to = lambda worker: mail[me, worker].put
        self.receiver_from = lambda worker: partial(mail[worker, me].get, check)

    def tell(self, worker: int, name: str, *arguments: Any) -> None:
        self.sender_to(worker)((name, *arguments, CONTROL))

    def fail(self, failure: Failure) -> None:
        self.tell(0, "failed", failure)

    def control_of(self, message: Any) -> tuple[Any, ...]:
        return message[:-1] if message[-1] == CONTROL else ("of a tag",)

    def with_requests(self, done: bytes, requests: list[Call]) -> Any:
        return done, requests, SCHEDULED

    def requests_of(self, message: Any) -> tuple[bytes, list[Call]]:
        done, requests, _ = message
        return done, requests

"""How messages, and the values of cells with them, leave a worker and reach it by a transport.

What is said at every tag is packed: which cells are present and their values, encoded once; large buffers lie where the
transport allocates.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure
from reactorlib.executors.packing import filler, packer, unpacker, values_of
from reactorlib.executors.portable_failure import told, told_briefly
from reactorlib.executors.protocol import PICKLED, POISON, SYNC, Control
from reactorlib.transport.transport import Transport
from reactorlib.worker.cells import Event, Reader


class Post:
    """One worker's end of a transport: packs cells into messages, unpacks messages into cells."""

    def __init__(self, transport: Transport) -> None:
        self.codec = transport.codec
        self.allocate, self.allocate_shared = transport.allocate, transport.allocate_shared
        self.sender_to = transport.sender_to
        self.receiver_from = transport.receiver_from

    def encoder(self, events: Sequence[Event], receivers: Sequence[int]) -> Callable[[], bytes]:
        """A function that encodes the values of these events. It raises WorkerError with the path of an event."""
        return values_of(events, self.codec.encoder(receivers), lambda error: self.blame(events, error))

    def filler(self, events: Sequence[Event]) -> Callable[[bytes], None]:
        """A function that gives these events the values that such an encoder encoded."""
        return filler(events, self.codec.decoder(), lambda error: self.unreadable(events, error))

    def tell(self, worker: int, message: Control) -> None:
        """Send a control message."""
        kind = bytes([POISON + 1 + PICKLED.index(type(message))])
        self.sender_to(worker)(pickle.dumps(tuple(message), 5) + kind)

    def poison(self, worker: int) -> None:
        self.sender_to(worker)(bytes([POISON]))

    def packer(self, cells: Sequence[Reader], receiver: int, kind: int) -> Callable[[], bytes]:
        """A function that makes a message of what these cells hold. It raises WorkerError with the path of a cell."""
        encode = self.codec.encoder((receiver,))
        return packer(cells, encode, kind, lambda error: self.blame([c for c in cells if c.is_present], error))

    def sender(self, cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        """What a Send does: all cells in one message."""
        pack, send = self.packer(cells, receiver, SYNC), self.sender_to(receiver)
        return lambda: send(pack())

    def unpacker(self, cells: Sequence[Reader]) -> Callable[[bytes], None]:
        """A function that makes present what the sender's cells held."""
        return unpacker(cells, self.codec.decoder(), lambda error: self.unreadable(cells, error))

    def unreadable(self, cells: Sequence[Reader], error: WorkerError) -> WorkerError:
        """The error of a message for these cells that cannot be decoded, with their paths."""
        shown = ", ".join(cell.path for cell in cells[:3]) + (", ..." if len(cells) > 3 else "")
        return WorkerError(f"{shown}: {error}")

    def blame(self, cells: Iterable[Reader], error: WorkerError) -> WorkerError:
        """The error of the first of these cells that cannot be encoded by itself, with its path."""
        return self.blame_values([(cell.path, cell.value) for cell in cells], error)

    def blame_values(self, named: Iterable[tuple[str, Any]], error: WorkerError) -> WorkerError:
        """The same for values with the paths that they go to."""
        for path, value in named:
            try:
                self.codec.encode(value, ())
            except WorkerError as alone:
                return WorkerError(f"{path}: {alone}")
        return error

    def fail(self, failure: Failure) -> None:
        """Tell worker 0 that this worker failed; in few words where shared memory has no room for more."""
        try:
            self.tell(0, told(failure))
        except WorkerError:
            self.tell(0, told_briefly(failure))

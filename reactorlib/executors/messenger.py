"""How messages, and the values of cells with them, leave a worker and reach it.

Between processes, values are encoded once for all receivers, and large buffers lie where the transport allocates.
Threads share cells: their messages carry no values, and everything else is handed over as it is.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure
from reactorlib.executors.mailbox import Mailbox
from reactorlib.executors.packing import filler, packer, unpacker, values_of
from reactorlib.executors.portable_failure import failure_of, told, told_briefly
from reactorlib.executors.protocol import (
    POISONED,
    SCHEDULED,
    SCHEDULED_TAIL,
    SYNC,
    Control,
    Failed,
    control_of,
    kind_of_control,
)
from reactorlib.transport.transport import Transport
from reactorlib.worker.cells import Event, Reader
from reactorlib.worker.requests import Request

Heard = Control | Failure | None


class Messenger:
    """One worker's end of a transport: packs cells into messages, unpacks messages into cells."""

    shares_cells = False

    def __init__(self, transport: Transport) -> None:
        self.codec = transport.codec
        self.allocate, self.allocate_shared = transport.allocate, transport.allocate_shared
        self.sender_to: Callable[[int], Callable[[Any], None]] = transport.sender_to
        self.receiver_from: Callable[[int], Callable[[], Any]] = transport.receiver_from

    # Messages that workers send now and then

    def tell(self, worker: int, control: Control) -> None:
        """Send a control message."""
        self.sender_to(worker)(pickle.dumps(tuple(control), 5) + bytes([kind_of_control(control)]))

    def fail(self, failure: Failure) -> None:
        """Report a failure to worker 0, in few words if shared memory has no room for more."""
        try:
            self.tell(0, told(failure))
        except WorkerError:
            self.tell(0, told_briefly(failure))

    def heard(self, message: Any) -> Heard:
        """The content of a control message; None for a message of a tag."""
        control = control_of(message)
        return failure_of(control) if isinstance(control, Failed) else control

    def poison(self, worker: int) -> None:
        """Tell a worker that nothing more will come at this tag."""
        self.sender_to(worker)(POISONED)

    # The values of events, with the message that begins a tag

    def encoder(self, events: Sequence[Event], receivers: Sequence[int]) -> Callable[[], bytes]:
        """A function that encodes the values of these events. It raises WorkerError with the path of an event."""
        return values_of(events, self.codec.encoder(receivers), partial(self.blame, events))

    def filler(self, events: Sequence[Event]) -> Callable[[bytes], None]:
        """A function that gives these events the values that such an encoder encoded."""
        return filler(events, self.codec.decoder(), partial(_unreadable, events))

    # The values of cells, in the middle of a tag and at its end

    def packer(self, cells: Sequence[Reader], receiver: int, kind: int) -> Callable[[], bytes]:
        """A function that makes a message of what these cells hold. It raises WorkerError with the path of a cell."""
        if not cells:
            return partial(bytes, [kind])
        encode = self.codec.encoder((receiver,))
        return packer(cells, encode, kind, lambda error: self.blame([c for c in cells if c.is_present], error))

    def sender(self, cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        """The action of a Send: all cells in one message."""
        pack, send = self.packer(cells, receiver, SYNC), self.sender_to(receiver)
        return (lambda: send(pack())) if cells else partial(send, pack())

    def unpacker(self, cells: Sequence[Reader]) -> Callable[[bytes], None] | None:
        """A function that makes present what the sender's cells held; None where there are none."""
        return unpacker(cells, self.codec.decoder(), partial(_unreadable, cells)) if cells else None

    # Requests of reactions, with the message that ends a part

    def with_requests(self, done: bytes, requests: list[Request]) -> Any:
        """The message that ends a part, with these requests."""
        return done + self.codec.encode(requests, (0,)) + SCHEDULED_TAIL.pack(len(done), SCHEDULED)

    def requests_of(self, message: Any) -> tuple[bytes, list[Request]]:
        """The two parts of such a message."""
        length, _ = SCHEDULED_TAIL.unpack_from(message, len(message) - SCHEDULED_TAIL.size)
        return message[:length], self.codec.decode(message[length:])

    # Errors

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

    def close(self) -> None:
        """The run has ended."""
        self.codec.close()


def _unreadable(cells: Sequence[Reader], error: WorkerError) -> WorkerError:
    """The error of a message for these cells that cannot be decoded, with their paths."""
    shown = ", ".join(cell.path for cell in cells[:3]) + (", ..." if len(cells) > 3 else "")
    return WorkerError(f"{shown}: {error}")


class ThreadMessenger(Messenger):
    """One worker's end of the mailboxes between threads: `mail[sender, receiver]`.

    Cells are shared, so no values travel. A thread reads a cell that another one set after it took the message that was
    sent after the set.
    """

    shares_cells = True

    def __init__(self, mail: Mapping[tuple[int, int], Mailbox[Any]], me: int, check: Callable[[], None]) -> None:
        self.sender_to = lambda worker: mail[me, worker].put
        self.receiver_from = lambda worker: partial(mail[worker, me].get, check)

    def tell(self, worker: int, control: Control) -> None:
        self.sender_to(worker)((control, kind_of_control(control)))

    def fail(self, failure: Failure) -> None:
        self.sender_to(0)((failure, None))

    def heard(self, message: Any) -> Heard:
        return message[0] if isinstance(message, tuple) and message[-1] != SCHEDULED else None

    def packer(self, _cells: Sequence[Reader], receiver: int, kind: int) -> Callable[[], bytes]:
        return super().packer((), receiver, kind)

    def sender(self, _cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        return super().sender((), receiver)

    def unpacker(self, _cells: Sequence[Reader]) -> None:
        return None

    def with_requests(self, done: bytes, requests: list[Request]) -> Any:
        return done, requests, SCHEDULED

    def requests_of(self, message: Any) -> tuple[bytes, list[Request]]:
        done, requests, _ = message
        return done, requests

    def close(self) -> None: ...

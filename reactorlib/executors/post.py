"""What worker processes tell each other, in terms of cells: kinds of messages, packing, unpacking.

A message carries which cells are present and their values, encoded once. Large buffers lie in shared memory and
are read there; small values are part of the message.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from struct import Struct
from typing import Any

from reactorlib.elaboration.program import Cell
from reactorlib.errors import StandInError, WorkerError, kind_of, words_of
from reactorlib.executors.packing import packer, unpacker, values_of
from reactorlib.executors.parallel import Failure
from reactorlib.schedule.split import Splitter
from reactorlib.transport.exchange import Endpoint
from reactorlib.worker.cells import Event, Reader

# The kind of a message is its last byte, so that what comes before is decoded where it lies.
GO, DONE, SCHEDULED, SYNC, FAILED, END, READY, BEGIN, PLAN, MODES, FORGET, ROWS, BYE = range(13)
GO_TAIL = Struct("<IqIB")  # number of the split, time, microstep, kind; before it the values of events
SCHEDULED_TAIL = Struct("<IB")  # length of the message DONE that comes first, kind; between them the outbox
CARRYING = ("logical", "physical", "delay", "physical delay")  # triggers whose events have values
LONGEST_TEXT = 1000  # characters of an error for which shared memory has no room


class Post:
    """One worker's end of the exchange: packs cells into messages, unpacks messages into cells."""

    def __init__(self, end: Endpoint) -> None:
        self.codec = end.codec
        self.arena = end.arena
        self._outgoing, self._incoming = end.outgoing, end.incoming

    def encoder(self, events: Sequence[Event], receivers: Sequence[int]) -> Callable[[], bytes]:
        """A function that encodes the values of these events. It raises WorkerError with the path of an event."""
        return values_of(events, self.codec.encoder(receivers), lambda error: self.blame(events, error))

    def send(self, worker: int, message: bytes) -> None:
        self._outgoing(worker).send(message)

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        """`send` to one other worker."""
        return self._outgoing(worker).send

    def receive(self, worker: int) -> bytes:
        return self._incoming(worker).receive()

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        """`receive` from one other worker."""
        return self._incoming(worker).receive

    def tell(self, worker: int, kind: int, content: Any) -> None:
        """Send something that only the runtime made."""
        self.send(worker, pickle.dumps(content, 5) + bytes([kind]))

    def packer(self, cells: Sequence[Reader], receiver: int, kind: int) -> Callable[[], bytes]:
        """A function that makes a message of what these cells hold. It raises WorkerError with the path of a cell."""
        encode = self.codec.encoder((receiver,))
        return packer(cells, encode, kind, lambda error: self.blame([c for c in cells if c.is_present], error))

    def sender(self, cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        """What a Send does: all cells in one message."""
        pack, send = self.packer(cells, receiver, SYNC), self._outgoing(receiver).send
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
        error = failure.error
        # A WorkerError says all that there is to say.
        where = "" if isinstance(error, WorkerError) else "".join(traceback.format_exception(error))
        try:
            self.tell(0, FAILED, (*portable(error), where, failure.node))
        except WorkerError:
            short = WorkerError(words_of(error)[:LONGEST_TEXT])
            self.tell(0, FAILED, (*portable(short), "", failure.node))


def failure_of(content: bytes) -> Failure:
    """What `fail` told: the exception has the traceback in the worker as a note."""
    pickled, kind, words, where, node = pickle.loads(content)
    error = rebuilt(pickled, BaseException)
    if error is None:
        error = StandInError(kind, words)
    if where:
        error.add_note(f"in a worker process:\n{where}")
    return Failure(error, node)


def portable(error: BaseException) -> tuple[bytes, str, str]:
    """The pickle of an exception, empty if it cannot travel; class and words for a stand-in if it cannot be rebuilt."""
    kind, words = kind_of(error), words_of(error)
    with suppress(Exception):  # pickling runs the user's code
        pickled = pickle.dumps(error)
        again = rebuilt(pickled, type(error))
        if again is not None and words_of(again) == words:
            return pickled, kind, words
    return b"", kind, words


def rebuilt(pickled: bytes, kind: type[BaseException]) -> BaseException | None:
    """The exception of a pickle; None if it cannot be rebuilt in this process, or is of another kind."""
    with suppress(Exception):  # this runs the user's code, too
        error = pickle.loads(pickled)
        if isinstance(error, kind):
            return error
    return None


def crossing_cells(splitter: Splitter) -> frozenset[Cell]:
    """Cells whose values other workers read, now or after a delay: their buffers belong in shared memory."""
    reach, readers = splitter.reach, splitter.readers
    owner = {cell: worker for node, worker in enumerate(splitter.partition.of_node) for cell in reach.sets(node)}
    crossing = {cell for cell, worker in owner.items() if readers.get(cell, set()) - {worker}}
    for trigger in reach.program.triggers:
        if trigger.source is not None:  # the value goes by way of worker 0, where the event queue is
            users = {0, *readers.get(trigger.cell, ())}
            if users - {owner.get(trigger.source, 0)}:
                crossing.add(trigger.source)
    return frozenset(crossing)

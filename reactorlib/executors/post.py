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

from reactorlib.cells import Reader
from reactorlib.errors import WorkerError
from reactorlib.executors.parallel import Failure
from reactorlib.program import Cell
from reactorlib.split import Splitter
from reactorlib.transport.exchange import Endpoint

GO, DONE, SYNC, FAILED, END, READY, BEGIN, PLAN, MODES, FORGET, ROWS, BYE = range(12)
GO_HEAD = Struct("<BIqI")  # kind, number of the split, time, microstep
DONE_HEAD = Struct("<BI")  # kind, length of the cells that follow; then the outbox
CARRYING = ("logical", "physical", "delay", "physical delay")  # triggers whose events have values
LONGEST_TEXT = 1000  # characters of an error for which shared memory has no room


class Post:
    """One worker's end of the exchange: packs cells into messages, unpacks messages into cells."""

    def __init__(self, end: Endpoint) -> None:
        self.codec = end.codec
        self.arena = end.arena
        self._outgoing, self._incoming = end.outgoing, end.incoming

    def send(self, worker: int, message: bytes) -> None:
        self._outgoing(worker).send(message)

    def receive(self, worker: int) -> bytes:
        return self._incoming(worker).receive()

    def tell(self, worker: int, kind: int, content: Any) -> None:
        """Send something that only the runtime made."""
        self.send(worker, bytes([kind]) + pickle.dumps(content))

    def packer(self, cells: Sequence[Reader], receiver: int) -> Callable[[], bytes]:
        """A function that says which cells are present (one bit each, in whole bytes), then their values."""
        encode = self.codec.encoder((receiver,))
        size = len(cells) + 7 >> 3
        everything = ((1 << len(cells)) - 1).to_bytes(size, "little")

        def pack() -> bytes:
            values = [cell.value for cell in cells if cell.is_present]
            try:
                if len(values) == len(cells):
                    return everything + encode(tuple(values))
                mask = sum(1 << position for position, cell in enumerate(cells) if cell.is_present)
                head = mask.to_bytes(size, "little")
                return head + encode(tuple(values)) if values else head
            except WorkerError as error:
                raise self.blame([cell for cell in cells if cell.is_present], error) from error.__cause__

        return pack

    def sender(self, cells: Sequence[Reader], receiver: int) -> Callable[[], None]:
        """What a Send does: all cells in one message."""
        pack, send, head = self.packer(cells, receiver), self._outgoing(receiver).send, bytes([SYNC])
        return lambda: send(head + pack())

    def unpack(self, cells: Sequence[Reader], data: bytes) -> None:
        """Make present what the sender's cells held."""
        size = len(cells) + 7 >> 3
        if len(data) == size:
            return
        mask = int.from_bytes(data[:size], "little")
        if mask != (1 << len(cells)) - 1:
            cells = [cell for position, cell in enumerate(cells) if mask >> position & 1]
        try:
            values = self.codec.decode(data[size:])
        except WorkerError as error:
            shown = ", ".join(cell.path for cell in cells[:3]) + (", ..." if len(cells) > 3 else "")
            raise WorkerError(f"{shown}: {error}") from error.__cause__
        for cell, value in zip(cells, values, strict=True):
            cell.value = value
            cell.is_present = True

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
            self.tell(0, FAILED, (portable(error), where, failure.node))
        except WorkerError:
            self.tell(0, FAILED, (WorkerError(str(error)[:LONGEST_TEXT]), "", failure.node))


def failure_of(content: bytes) -> Failure:
    """What `fail` told: the exception has the traceback in the worker as a note."""
    error, where, node = pickle.loads(content)
    if where:
        error.add_note(f"in a worker process:\n{where}")
    return Failure(error, node)


def portable(error: BaseException) -> BaseException:
    """A copy of the exception that can travel, or a stand-in."""
    with suppress(Exception):  # pickling runs the user's code
        copy: BaseException = pickle.loads(pickle.dumps(error))
        if type(copy) is type(error):
            return copy
    return RuntimeError("".join(traceback.format_exception_only(error)).strip())


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

"""What workers tell each other: messages by type, and how values of cells travel with them.

Control messages are records that threads pass on as they are and everything else pickles. What is said at every tag
is packed: which cells are present and their values, encoded once; large buffers lie where the transport allocates.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from struct import Struct
from typing import Any, NamedTuple

from reactorlib.errors import StandIn, StandInError, WorkerError, kind_of, words_of
from reactorlib.executors.failure import Failure
from reactorlib.executors.packing import packer, unpacker, values_of
from reactorlib.schedule.graph import Node
from reactorlib.transport.transport import Transport
from reactorlib.worker.cells import Event, Reader
from reactorlib.worker.requests import Request
from reactorlib.worker.trace import Row


class Go(NamedTuple):
    """Worker 0: run your part of this split at this tag."""

    number: int
    time: int
    microstep: int


class Done(NamedTuple):
    """A worker: my part has ended, and this is what its reactions asked for."""

    requests: list[Request]


class Sync(NamedTuple):
    """Everything before is done."""


class Poison(NamedTuple):
    """What you wait for will not come: some worker failed at this tag."""


class Ready(NamedTuple):
    """A worker: I could be started."""


class Begin(NamedTuple):
    """Worker 0: the run began at this physical time in ns."""

    started: int


class Learn(NamedTuple):
    """Worker 0: the split of this number is of the plan for these events."""

    number: int
    events: tuple[int, ...]


class Switched(NamedTuple):
    """Worker 0: (active, entered) of each mode, and the modes that were reset since you heard last."""

    flags: list[tuple[bool, bool]]
    restarted: list[int]


class Forget(NamedTuple):
    """Worker 0: all numbers of splits are void."""


class End(NamedTuple):
    """Worker 0: take your leave. `early`: the run failed at this tag, by this reaction if it is not None."""

    early: bool = False
    failed: Node | None = None
    time: int = 0
    microstep: int = 0


class Failed(NamedTuple):
    """A worker: this exception was raised; see `portable`. `where`: its traceback in words."""

    pickled: bytes
    kind: str
    words: str
    where: str
    node: Node | None


class Rows(NamedTuple):
    """A worker: this is what I recorded."""

    rows: list[Row]


class Bye(NamedTuple):
    """A worker: I am gone; this is what my last reactions raised."""

    notes: list[str]


Control = Go | Sync | Poison | Ready | Begin | Learn | Switched | Forget | End | Failed | Rows | Bye

# The kind of a packed message is its last byte, so that what comes before is decoded where it lies.
GO, DONE, SCHEDULED, SYNC, POISON = range(5)
PICKLED: tuple[type[Control], ...] = (Ready, Begin, Learn, Switched, Forget, End, Failed, Rows, Bye)  # kinds from 5 on
GO_TAIL = Struct("<IqIB")  # the fields of Go, kind; before it the values of events
GO_FIELDS = Struct("<IqI")  # the same without the kind
SCHEDULED_TAIL = Struct("<IB")  # length of the message DONE that comes first, kind; between them the requests
CARRYING = ("logical", "physical", "delay", "physical delay", "input")  # triggers whose events have values
LONGEST_TEXT = 1000  # characters of an error for which there is no room


def control_of(message: bytes) -> Control:
    """What a message says, but for the values of cells and the requests that come with it."""
    kind = message[-1]
    if kind == GO:
        return Go._make(GO_FIELDS.unpack_from(message, -GO_TAIL.size))
    if kind <= POISON:
        return Poison() if kind == POISON else Sync()
    return PICKLED[kind - POISON - 1](*pickle.loads(message))


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


def told(failure: Failure) -> Failed:
    """A failure as it travels to another process."""
    error = failure.error
    # A WorkerError says all that there is to say.
    where = "" if isinstance(error, WorkerError) else "".join(traceback.format_exception(error))
    return Failed(*portable(error), where, failure.node)


def told_briefly(failure: Failure) -> Failed:
    """The same in few words."""
    short = WorkerError(words_of(failure.error)[:LONGEST_TEXT])
    return Failed(*portable(short), "", failure.node)


def failure_of(told: Failed) -> Failure:
    """What was told: the exception has the traceback in the worker as a note."""
    error = rebuilt(told.pickled, BaseException)
    if error is None:
        error = StandInError(told.kind, told.words)
    if told.where:
        error.add_note(f"in a worker process:\n{told.where}")
    return Failure(error, told.node)


def portable(error: BaseException) -> tuple[bytes, str, str]:
    """The pickle of an exception, empty if it cannot travel; class and words for a stand-in if it cannot be rebuilt.

    One that is no Exception must stay none, and what is waiting for its class must meet it: if it cannot travel, one
    of the same class does that says the same, but knows no more.
    """
    kind, words = kind_of(error), words_of(error)
    with suppress(Exception):  # pickling runs the user's code
        pickled = pickle.dumps(error)
        again = rebuilt(pickled, type(error))
        if again is not None and words_of(again) == words:
            return pickled, kind, words
    if isinstance(error, Exception):
        return b"", kind, words
    for arguments in (error.args, (words,)):
        with suppress(Exception):
            return pickle.dumps(_Likeness(type(error), arguments)), kind, words
    return pickle.dumps(StandIn(kind, words)), kind, words


class _Likeness:
    """What a pickle rebuilds as an exception of this class with these arguments. Its constructor does not run."""

    def __init__(self, cls: type[BaseException], arguments: tuple[Any, ...]) -> None:
        self._state = cls, arguments

    def __reduce__(self) -> Any:
        return _like, self._state


def _like(cls: type[BaseException], arguments: tuple[Any, ...]) -> BaseException:
    base: Any = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    like: BaseException = base.__new__(cls, *arguments)
    base.__init__(like, *arguments)  # the code of a SystemExit
    return like


def rebuilt(pickled: bytes, kind: type[BaseException]) -> BaseException | None:
    """The exception of a pickle; None if it cannot be rebuilt in this process, or is of another kind."""
    with suppress(Exception):  # this runs the user's code, too
        error = pickle.loads(pickled)
        if isinstance(error, kind):
            return error
    return None

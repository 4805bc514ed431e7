"""What workers tell each other: messages by type.

Threads pass them on as they are, everything else as bytes: what is said at every tag packed, the rest pickled.
"""

from __future__ import annotations

import pickle
from struct import Struct
from typing import NamedTuple

from reactorlib.elaboration.program import Node
from reactorlib.worker.scheduler import Call
from reactorlib.worker.trace import Row


class Go(NamedTuple):
    """Worker 0: run your part of this split at this tag."""

    number: int
    time: int
    microstep: int


class Done(NamedTuple):
    """A worker: my part has ended, and this is what its reactions asked for."""

    requests: list[Call]


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
    """A worker: this exception was raised; see `portable_failure.py`. `where`: its traceback in words."""

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
GO_TAIL = Struct("<IqqB")  # the fields of Go, kind; before it the values of events
GO_FIELDS = Struct("<Iqq")  # the same without the kind
SCHEDULED_TAIL = Struct("<IB")  # length of the message DONE that comes first, kind; between them the requests
CARRYING = ("logical", "physical", "delay", "physical delay", "input")  # triggers whose events have values


def control_of(message: bytes) -> Control:
    """What a message says, but for the values of cells and the requests that come with it."""
    kind = message[-1]
    if kind == GO:
        return Go._make(GO_FIELDS.unpack_from(message, -GO_TAIL.size))
    if kind <= POISON:
        return Poison() if kind == POISON else Sync()
    return PICKLED[kind - POISON - 1](*pickle.loads(message))

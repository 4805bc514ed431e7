"""Messages between workers: their types, and their form as bytes.

The last item of a message is its kind. Messages of every tag are packed bytes, also between threads. Others are pickled
for another process, and a pair of object and kind for another thread.
"""

from __future__ import annotations

import pickle
from struct import Struct
from typing import NamedTuple

from reactorlib.elaboration.records import Node
from reactorlib.schedule.plan import Plan
from reactorlib.worker.trace import Row


class Ready(NamedTuple):
    """A worker: I could be started."""


class Begin(NamedTuple):
    """Worker 0: the run began at this physical time in ns."""

    started: int


class Lesson(NamedTuple):
    """Worker 0: your part of the split of this number."""

    number: int
    part: Plan


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
    """A worker of another process: this exception was raised; see `portable_failure.py`. `where`: its traceback."""

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


Control = Ready | Begin | Lesson | Switched | Forget | End | Failed | Rows | Bye
CONTROLS: tuple[type[Control], ...] = (Ready, Begin, Lesson, Switched, Forget, End, Failed, Rows, Bye)

# A packed message is decoded where it lies, so its kind comes last. Those of CONTROLS follow.
GO, DONE, SCHEDULED, SYNC, POISON = range(5)
SYNCED, POISONED = bytes([SYNC]), bytes([POISON])  # everything before is done; nothing more will come at this tag
NOTHING_CROSSES = bytes([DONE])
GO_TAIL = Struct("<IqqB")  # number of a split, time, microstep, kind; before it the values of events
GO_FIELDS = Struct("<Iqq")  # the same without the kind
SCHEDULED_TAIL = Struct("<IB")  # length of the message DONE that comes first, kind; between them the requests
CARRYING = ("logical", "physical", "delay", "physical delay", "input")  # triggers whose events have values


def kind_of_control(control: Control) -> int:
    """The kind of the message with this content."""
    return POISON + 1 + CONTROLS.index(type(control))


def control_of(message: bytes) -> Control | None:
    """The content of a pickled message; None for a message of a tag."""
    kind = message[-1]
    return CONTROLS[kind - POISON - 1](*pickle.loads(message)) if kind > POISON else None

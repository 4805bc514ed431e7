"""The values of a run, and the arguments of reactions: rights to read, to set and to schedule.

A cell is a number in the program's record. On a worker its object is a Reader, which a reaction that only reads is
given itself. A Writer is the right to set it. As these are two objects, `set` needs no check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from typing import Any, Final, NamedTuple

from reactorlib.elaboration.records import Cell, Elaborated
from reactorlib.errors import EffectError, ReactorError
from reactorlib.tag import Time, time_fault
from reactorlib.transport.batch import Batch, batch
from reactorlib.transport.structure import LARGE_BYTES

NOW = 0  # needs no unit and no check; another 0, such as 0.0, is another object


class Reader:
    """A cell, with the right to read it: `value` is the last one (at first None), `is_present` holds at this tag."""

    __slots__ = ("is_present", "path", "value")

    def __init__(self, path: str) -> None:
        self.path = path
        self.value: Any = None
        self.is_present = False

    def set(self, value: object) -> None:
        raise EffectError(self.path, "set()")

    def schedule(self, extra_delay: int = 0, value: object = None) -> None:
        raise EffectError(self.path, "schedule()")

    def __repr__(self) -> str:
        return f"<{self.path} {'=' if self.is_present else 'absent, was'} {self.value!r}>"


Allocate = Callable[[int], Any]

# From these sizes on glibc asks the system for an array's memory, and gives it back: in threads, and anywhere. A pool
# halves a round with arrays of 40 MiB in one thread: 52 ms for 106. With 4 to 31 MiB it gains nothing, with 1 MiB it
# takes 7 % longer.
LARGE_IN_THREADS, LARGE_ANYWHERE = 128 * 2**10, 32 * 2**20


class Buffers(NamedTuple):
    """Memory for values of some cells. Smaller arrays than `least_bytes` lie anywhere.

    `allocate_shared`: for batches, which their readers may write to. None where readers are in the same process.
    """

    allocate: Allocate
    allocate_shared: Allocate | None = None
    crossing: Container[Cell] = ()  # the cells of these values, which other workers read
    least_bytes: int = LARGE_BYTES


def local_buffers(least_bytes: int = LARGE_ANYWHERE) -> Buffers:
    """Memory for values that stay in their process, in a pool of their own."""
    pools: list[Any] = []

    def allocate(nbytes: int) -> Any:
        if not pools:
            from reactorlib.transport.pool import Pool  # for programs with large arrays

            pools.append(Pool())
        return pools[0].allocate(nbytes)

    return Buffers(allocate, least_bytes=least_bytes)


class _Right:
    """A right on one cell, by which it can also be read. `_verb`: the call that uses it, with its value."""

    __slots__ = ("_cell",)
    _verb = ""

    def __init__(self, cell: Reader) -> None:
        self._cell = cell

    @property
    def value(self) -> Any:
        return self._cell.value

    @value.setter
    def value(self, given: Any) -> None:
        raise AttributeError(f"{self._cell.path}.value is only read: write {self._verb.format(given)} to change it")

    @property
    def is_present(self) -> bool:
        return self._cell.is_present

    def __repr__(self) -> str:
        return repr(self._cell)


class Writer(_Right):
    """The right to set one value."""

    __slots__ = ("_buffers",)
    _verb = "set({!r})"

    def __init__(self, cell: Reader, buffers: Buffers) -> None:
        super().__init__(cell)
        self._buffers = buffers

    def set(self, value: Any) -> None:
        cell = self._cell
        cell.value = value
        cell.is_present = True

    def allocate(self, shape: int | tuple[int, ...], dtype: Any = float) -> Any:
        """An uninitialised NumPy array of this shape and dtype, to fill and then set."""
        import numpy as np

        kind, buffers = np.dtype(dtype), self._buffers
        count = math.prod(map(int, shape)) if isinstance(shape, tuple | list) else int(shape)
        nbytes = count * kind.itemsize
        if nbytes < buffers.least_bytes or kind.hasobject or kind.subdtype is not None:
            return np.empty(shape, kind)
        return np.frombuffer(buffers.allocate(nbytes), kind, count).reshape(shape)

    def batch(self, shape: int | tuple[int, ...], dtype: Any = float) -> Batch:
        """A Batch to set, whose uninitialised array its readers may fill in place."""
        return batch(self._buffers.allocate_shared, shape, dtype)


class TracedWriter(Writer):
    """A writer that notes (path, value) of each `set`, in order."""

    __slots__ = ("_note",)

    def __init__(self, cell: Reader, buffers: Buffers, note: Callable[[tuple[str, Any]], None]) -> None:
        super().__init__(cell, buffers)
        self._note = note

    def set(self, value: Any) -> None:
        cell = self._cell
        cell.value = value
        cell.is_present = True
        self._note((cell.path, value))


class Multiport(tuple[Any, ...]):
    """The channels of a multiport, readers or writers. It is present if any channel is."""

    __slots__ = ()

    @property
    def is_present(self) -> bool:
        return any(channel.is_present for channel in self)

    @property
    def value(self) -> list[Any]:
        return [channel.value for channel in self]

    @property
    def width(self) -> int:
        return len(self)

    def set(self, value: object) -> None:
        if not isinstance(self[0], Writer):
            self[0].set(value)  # raises: it can only be read
        raise ReactorError(f"a multiport is set channel by channel: write port[i].set(...), got set({value!r})")


class Contained:
    """The ports of one contained reactor that a reaction names, as attributes."""

    __slots__ = ("__dict__", "__path")

    def __init__(self, path: str, ports: dict[str, Any]) -> None:
        self.__path = path
        self.__dict__.update(ports)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the reaction is given {', '.join(vars(self))} of {self.__path}, not {name}")


class Absent:
    """The type of ABSENT, which is False: the value of an absent input or output of a step.

    >>> from reactorlib import Input, Output, Reactor, Session
    >>> class Mute(Reactor):
    ...     inp, out = Input(), Output()
    >>> with Session(Mute) as session:
    ...     session.stepper(("inp",), ("out",))(1)
    ABSENT
    """

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()
"""Stands for the value of an absent port in the steps of a session."""


class Event(Reader):
    """The cell of a trigger, which the event queue carries. `schedule_alone` runs a tag with no other event."""

    __slots__ = ("index", "mode", "schedule_alone", "seen", "trigger")

    def __init__(self, path: str, index: int, trigger: Any) -> None:
        super().__init__(path)
        self.index = index
        self.trigger = trigger
        self.mode = trigger.mode
        self.schedule_alone: Callable[..., Any] | None = None
        self.seen = 0  # how many such tags ran without that schedule


def events_of(program: Elaborated) -> list[Event]:
    """The events of a run, by trigger."""
    return [Event(trigger.path, index, trigger) for index, trigger in enumerate(program.triggers)]


class ActionHandle(_Right):
    """The right to schedule one action."""

    __slots__ = ("_schedule",)
    _verb = "schedule(value={!r})"

    def __init__(self, event: Event, schedule: Callable[[Any, int, Any], None]) -> None:
        super().__init__(event)
        self._schedule = schedule

    def schedule(self, extra_delay: int = 0, value: Any = None) -> None:
        if extra_delay is not NOW:
            fault = time_fault(extra_delay, "extra_delay")
            if fault is not None:
                meant = "" if isinstance(extra_delay, Time) else ": did you mean schedule(value=...)?"
                raise ReactorError(f"{self._cell.path}.schedule(): {fault}{meant}")
            extra_delay = int(extra_delay)
        self._schedule(self._cell, extra_delay, value)

"""The constructors under way in this thread, and the line of the source that declares or makes something."""

from __future__ import annotations

import sys
import threading
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

# Files whose lines declare nothing: this package's, and the one through which `Input[int]()` makes an Input.
_BETWEEN = (__file__.rpartition("declaration")[0], typing.__file__)


class _Building(threading.local):
    """`stack` has the Instances under construction, outermost first.

    `mode` is that of the enclosing `with` block of a class body or constructor. `where` is the position that a front
    end gave. Both hold in the innermost constructor only.
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.bank_index = 0
        self.mode: Any = None
        self.where: str | None = None


building = _Building()


@contextmanager
def where(position: str) -> Iterator[None]:
    """In faults, all that is declared or made in this block has `position`: "file:line" or "file:line:column".

    For front ends that make reactor classes from another language. Otherwise the position is the line of Python that
    makes the element, reaction, reactor, bank or connection. A constructor that runs in the block sets its own.

    >>> from reactorlib import Input, Reactor, elaborate, where
    >>> with where("sink.txt:3:5"):
    ...     inp = Input(width=0)
    >>> elaborate(type("Sink", (Reactor,), {"inp": inp}))
    Traceback (most recent call last):
    ...
    reactorlib.errors.ElaborationError: Sink.inp: width must be a positive integer, got 0 (sink.txt:3:5)
    """
    outer, building.where = building.where, position
    try:
        yield
    finally:
        building.where = outer


def located(position: str | None) -> str:
    """The end of a message with a position. Nothing, if it is unknown."""
    return f" ({position})" if position else ""


def raised_at(trace: TracebackType | None) -> str | None:
    """The line of the user's code that this package called and that let an exception through."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_BETWEEN):
        trace = trace.tb_next
    return trace and f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


def here() -> str:
    """The position of the enclosing `where` block, else the line of the user's code that runs."""
    if building.where is not None:
        return building.where
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"

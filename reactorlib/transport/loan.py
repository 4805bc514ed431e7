"""Memory that is lent: it is given back in C when the last view of it dies.

Python looks for signals at the entry of every function that is written in Python. An exception that a handler raises at
the entry of a `__del__` is printed and lost, and the memory is never given back. So no bytecode runs here: `__del__` is
a slot of the instance, and holds a C function that takes no argument.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any


@lru_cache(1024)
def loan_type(nbytes: int) -> Any:
    """The type of ctypes arrays of `nbytes` bytes. The maker of one sets its `__del__` to the C function."""
    return type("Loan", (ctypes.c_ubyte * nbytes,), {"__slots__": ("__del__",)})


@lru_cache(1024)
def loan_over(nbytes: int) -> Any:
    """A function that makes one over a buffer, which it keeps."""
    return loan_type(nbytes).from_buffer


@lru_cache(1024)
def loan_at(nbytes: int) -> Any:
    """A function that makes one at an address."""
    return loan_type(nbytes).from_address


class Descriptor:
    """A file descriptor that is closed when nothing refers to it any more, or before; `number` is -1 from then on."""

    __slots__ = ("__del__", "number")

    __del__: Callable[[], object]

    def __init__(self, number: int) -> None:
        self.number = number
        self.__del__ = partial(os.close, number)

    def close(self) -> None:
        number, self.number = self.number, -1
        if number >= 0:
            self.__del__ = int  # a C function that does nothing
            os.close(number)

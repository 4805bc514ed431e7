"""A call for the time when an object dies, or the interpreter ends: it loses no signal, though it is written in Python.

Python looks for signals at the entry of every function. It prints an exception that a handler raises in a `__del__` or
a callback of a weak reference, and goes on. A generator that goes on is within its `try` from the first instruction.
"""

from __future__ import annotations

import atexit
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from functools import partial
from signal import Signals


class Mortal:
    """The base of objects with a last call. `__del__` is a slot of the instance, and holds a C function."""

    __slots__ = ("__del__", "__dict__", "__weakref__")

    __del__: Callable[[], object]

    def at_death(self, act: Callable[[], object]) -> Callable[[], object]:
        """Have `act` called when this dies, or at exit. Returns a function after which it is not called at exit."""
        call = partial(next, _last_call(act), None)
        call()
        self.__del__ = call
        atexit.register(call)
        return partial(atexit.unregister, call)


class _Again:
    """A signal that arrives again when this dies: no bytecode that looks for signals is in between."""

    __slots__ = ("__del__",)

    def __init__(self, number: Signals) -> None:
        self.__del__ = partial(interrupt_main, number)


def _last_call(act: Callable[[], object]) -> Iterator[None]:
    """Begin, then call `act`. A signal that interrupts it arrives again as soon as the program goes on."""
    again = None
    try:
        try:
            yield
        finally:
            act()
    except KeyboardInterrupt:
        again = _Again(Signals.SIGINT)
    except SystemExit as end:  # see `exit_on_signal`
        if not isinstance(end.code, int) or end.code <= 128:
            raise
        again = _Again(Signals(end.code - 128))
    del again
    yield

"""A message between a driver and an actor: a pickle, and apart from it the large arrays in it, which are not pickled.

For systems whose own pickling calls Python for every array, or copies large ones more than once. A message is pickled
once for all who receive it. An exception of an actor is part of its reply. So an error of a system's own is never taken
for one of the actor's.
"""

import pickle
from collections.abc import Callable, Iterable
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from typing import Any, TypeAlias

# Of an array with more bytes, the pickle holds a reference only.
LARGEST_INLINE_BYTES = 16 * 1024

# A pickle, and the large arrays of the value in order.
Parts: TypeAlias = list[Any]


def parts_of(value: Any) -> Parts:
    """The parts of a message with a value: bytes, and PickleBuffers of large arrays, which are not copied for it."""
    large: Parts = []

    def stays(buffer: pickle.PickleBuffer) -> bool:
        is_small = buffer.raw().nbytes <= LARGEST_INLINE_BYTES
        if not is_small:
            large.append(buffer)
        return is_small

    return [pickle.dumps(value, protocol=5, buffer_callback=stays), *large]


def value_of(parts: Iterable[Any]) -> Any:
    """The value again. Its large arrays are views of the parts."""
    head, *large = parts
    return pickle.loads(head, buffers=large)


def outcome(call: Callable[[], Any]) -> Parts:
    """A reply with what a call raises, if anything, and what it returns."""
    try:
        return parts_of((None, call()))
    except Exception as error:  # noqa: BLE001 - whatever a method raises
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - whatever its class does
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return parts_of((ExceptionWithTraceback(error, error.__traceback__), None))


def replied(parts: Iterable[Any]) -> Any:
    """The value that an actor returned, by its reply. Raises the exception that it raised."""
    error, value = value_of(parts)
    if error is not None:
        raise error
    return value

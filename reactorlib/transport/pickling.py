"""Pickle protocol 5 with buffers out of band, torch tensors included. It names the part that cannot be pickled."""

from __future__ import annotations

import copyreg
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from pickle import PickleBuffer
from reprlib import repr as short
from time import monotonic
from types import FunctionType, ModuleType
from typing import Any

from reactorlib.errors import WorkerError, type_name, words_of
from reactorlib.transport.structure import array_of

OutOfBand = Callable[[PickleBuffer], bool]  # takes a buffer, or returns True to leave it in the pickle

SEARCH_S = 0.2  # for the search for the part that cannot be pickled, which then names the part that it has reached
MOST_PARTS = 10  # that cannot be pickled and are looked into


class UnpicklableError(WorkerError):
    """A value cannot be pickled; the text names the part and the reason."""


def dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    """The pickle of a value. Raises UnpicklableError."""
    try:
        return _dumps(value, out_of_band)
    except WorkerError:
        raise
    except Exception as error:
        path, culprit, reason = _culprit("", value, error, {}) or ("", value, error)
        where = f" ({path} of a value of type {type_name(value)})" if path else ""
        raise UnpicklableError(
            f"a value of type {type_name(culprit)}{where} cannot travel to another worker: "
            f"{type(reason).__name__}: {words_of(reason)}"
        ) from error


def loads(data: Any, buffers: list[memoryview], sender: int) -> Any:
    """The value of a pickle. WorkerError when it cannot be built in this process."""
    try:
        return pickle.loads(data, buffers=buffers)
    except Exception as error:
        raise WorkerError(
            f"a value from worker {sender} cannot be rebuilt here: {type(error).__name__}: {words_of(error)}"
        ) from error


def _dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    torch = sys.modules.get("torch")
    if torch is None:
        return pickle.dumps(value, 5, buffer_callback=out_of_band)
    stream = BytesIO()
    pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
    pickler.dispatch_table = {**copyreg.dispatch_table, torch.Tensor: _reduce_tensor}
    pickler.dump(value)
    return stream.getvalue()


# Tensors: torch's own way would copy each into the pickle


def _reduce_tensor(tensor: Any) -> Any:
    if tensor.grad_fn is not None:
        raise TypeError(
            "it is part of a graph of gradients, which stays in its process; set tensor.detach(), and compute "
            "gradients where the graph is"
        )
    array = array_of(tensor)
    if array is None or vars(tensor):
        return tensor.__reduce_ex__(5)
    if tensor.is_contiguous():
        return _tensor_over, (array,)
    # A sum depends on the strides. So the memory that the tensor spans crosses, gaps and all.
    shape, strides = tuple(tensor.shape), tensor.stride()
    span = 1 + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return _strided_over, (tensor.as_strided((span,), (1,)).numpy(), shape, strides)


def _strided_over(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return _tensor_over(array).as_strided(shape, strides)


def _tensor_over(array: Any) -> Any:
    """A tensor over the memory of an array. If that is read-only, the tensor must not be written either."""
    torch = import_module("torch")
    if array.flags.writeable:
        return torch.from_numpy(array)
    return torch.from_numpy(import_module("numpy").asarray(Writable(array)))  # else torch would warn at each


class Writable:
    """Presents the memory of a read-only array as writable to NumPy, and keeps it as long as what NumPy makes of it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _culprit(
    path: str, value: Any, error: Exception, seen: dict[int, Any], until: float | None = None
) -> tuple[str, Any, Exception] | None:
    """The first part that fails while none of its own does: its path, itself and why. None: it is elsewhere."""
    until = monotonic() + SEARCH_S if until is None else until
    seen[id(value)] = value
    is_to_blame = True
    for step, part in _parts(value) if len(seen) < MOST_PARTS else ():
        if monotonic() > until:
            break
        reason = _reason(part)
        if reason is not None:
            is_to_blame = False
            found = None if id(part) in seen else _culprit(path + step, part, reason, seen, until)
            if found is not None:
                return found
    return (path, value, error) if is_to_blame or monotonic() > until else None


def _reason(part: Any) -> Exception | None:
    """Why a part cannot be pickled; None if it can."""
    try:
        _dumps(part, lambda _: False)
    except Exception as failure:  # noqa: BLE001  reported as the reason
        return failure
    return None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Steps to the parts of a value; none where the user's classes do not let them be looked at."""
    with suppress(Exception):
        if isinstance(value, dict):
            yield from ((f"[{short(key)}]", part) for key, part in value.items())
        elif isinstance(value, tuple | list):
            yield from ((f"[{number}]", part) for number, part in enumerate(value))
        elif not isinstance(value, type | FunctionType | ModuleType):
            yield from ((f".{name[:40]}", part) for name, part in vars(value).items())

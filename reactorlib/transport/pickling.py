"""Pickle protocol 5 with buffers out of band, torch tensors included; says what it was that could not be pickled."""

from __future__ import annotations

import copyreg
import pickle
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from pickle import PickleBuffer
from typing import Any

from reactorlib.errors import WorkerError, words_of
from reactorlib.transport.structure import array_of

OutOfBand = Callable[[PickleBuffer], bool]  # takes a buffer, or returns True to leave it in the pickle

SEARCHED = 10_000  # parts of a value that are tried when it cannot be pickled


class UnpicklableError(WorkerError):
    """A value cannot be pickled; the text names the part and the reason."""


def dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    """The pickle of a value. Raises UnpicklableError."""
    try:
        return _dumps(value, out_of_band)
    except WorkerError:
        raise
    except Exception as error:
        path, culprit, reason = _culprit(value, error)
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
    if "torch" not in sys.modules:
        return pickle.dumps(value, 5, buffer_callback=out_of_band)
    torch = sys.modules["torch"]
    stream = BytesIO()
    pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
    pickler.dispatch_table = {
        **copyreg.dispatch_table,
        torch.Tensor: _reduce_tensor,
        torch.storage.TypedStorage: _reduce_storage,
    }
    pickler.dump(value)
    return stream.getvalue()


# Tensors: torch's own way would copy each into the pickle


def _reduce_tensor(tensor: Any) -> Any:
    array = array_of(tensor)
    if array is not None:
        return _tensor_over, (array,)
    return tensor.__reduce_ex__(5)  # in terms of its storage


def _reduce_storage(storage: Any) -> Any:
    torch = sys.modules["torch"]
    untyped = storage._untyped_storage  # untyped() warns
    if untyped.device.type != "cpu" or untyped.nbytes() == 0:
        return storage.__reduce__()
    array = torch.empty(0, dtype=torch.uint8).set_(untyped).numpy()
    return _storage_over, (array, storage.dtype)


def _tensor_over(array: Any) -> Any:
    """A tensor over the memory of an array. If that is read-only, the tensor must not be written either."""
    torch = import_module("torch")
    if array.flags.writeable:
        return torch.from_numpy(array)
    return torch.from_numpy(import_module("numpy").asarray(_Writable(array)))  # else torch would warn at each


def _storage_over(array: Any, dtype: Any) -> Any:
    torch = import_module("torch")
    untyped = _tensor_over(array).untyped_storage()
    return torch.storage.TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


class _Writable:
    """Presents the memory of a read-only array as writable, and keeps it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


# What to tell about a value that cannot be pickled


def _culprit(value: Any, error: Exception) -> tuple[str, Any, Exception]:
    """The smallest part that fails: its path, itself and why."""
    path, left = "", SEARCHED
    searching = True
    while searching:
        searching = False
        for step, part in _parts(value):
            left -= 1
            if left < 0:
                break
            try:
                _dumps(part, lambda _: False)
            except Exception as reason:  # noqa: BLE001  reported as the reason
                path, value, error, searching = path + step, part, reason, True
                break
    return path, value, error


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield " key", key
            yield f"[{key!r}]", part
    elif isinstance(value, tuple | list):
        for number, part in enumerate(value):
            yield f"[{number}]", part
    elif not isinstance(value, type) and hasattr(value, "__dict__"):
        for name, part in vars(value).items():
            yield f".{name}", part


def type_name(value: Any) -> str:
    """The full name of a value's type, as an error message gives it.

    >>> type_name(1), type_name(BytesIO())
    ('int', '_io.BytesIO')
    """
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"

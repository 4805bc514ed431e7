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
from reprlib import Repr
from time import perf_counter_ns
from types import FunctionType, ModuleType
from typing import Any

from reactorlib.errors import WorkerError, type_name, words_of
from reactorlib.transport.structure import array_of

OutOfBand = Callable[[PickleBuffer], bool]  # takes a buffer, or returns True to leave it in the pickle

SEARCH_NS = 200_000_000  # of the search for the part that cannot be pickled: what is found by then is named
DEEPEST = 10  # levels of that search
LONGEST_PATH = 200  # characters of the path of the part


class UnpicklableError(WorkerError):
    """A value cannot be pickled; the text names the part and the reason."""


def dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    """The pickle of a value. Raises UnpicklableError."""
    try:
        return _dumps(value, out_of_band)
    except WorkerError:
        raise
    except Exception as error:
        path, culprit, reason = _Search().culprit("", value, error) or ("", value, error)
        if len(path) > LONGEST_PATH:
            path = f"{path[: LONGEST_PATH // 2 - 3]}...{path[-LONGEST_PATH // 2 :]}"
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
    stream = BytesIO()
    _pickler(stream, out_of_band).dump(value)
    return stream.getvalue()


def _pickler(stream: Any, out_of_band: OutOfBand) -> pickle.Pickler:
    pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
    torch = sys.modules.get("torch")
    if torch is not None:
        pickler.dispatch_table = {
            **copyreg.dispatch_table,
            torch.Tensor: _reduce_tensor,
            torch.storage.TypedStorage: _reduce_storage,
        }
    return pickler


# Tensors: torch's own way would copy each into the pickle


def _reduce_tensor(tensor: Any) -> Any:
    if tensor.grad_fn is not None:
        raise TypeError(
            "it is part of a graph of gradients, which stays in its process; set tensor.detach(), and compute "
            "gradients where the graph is"
        )
    array = array_of(tensor)
    if array is None or vars(tensor):
        return tensor.__reduce_ex__(5)  # in terms of its storage
    if tensor.is_contiguous():
        return _tensor_over, (array,)
    return _reduce_strided(tensor)


def _reduce_strided(tensor: Any) -> Any:
    """The part of its storage that a tensor spans, gaps and all."""
    torch = sys.modules["torch"]
    shape, strides = tuple(tensor.shape), tensor.stride()
    span = 1 + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return _strided_over, (torch.as_strided(tensor, (span,), (1,)).numpy(), shape, strides)


def _strided_over(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return _tensor_over(array).as_strided(shape, strides)


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
    return torch.from_numpy(import_module("numpy").asarray(Writable(array)))  # else torch would warn at each


def _storage_over(array: Any, dtype: Any) -> Any:
    torch = import_module("torch")
    untyped = _tensor_over(array).untyped_storage()
    return torch.storage.TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


class Writable:
    """Presents the memory of a read-only array as writable to NumPy, and keeps it as long as what NumPy makes of it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


class _Search:
    """For the part of a value that cannot be pickled, in each part once."""

    def __init__(self) -> None:
        self._until_ns = perf_counter_ns() + SEARCH_NS
        self._seen: dict[int, Any] = {}  # by id; kept, so that no other part gets one

    def culprit(self, path: str, value: Any, error: Exception, level: int = 0) -> tuple[str, Any, Exception] | None:
        """The first part that fails while none of its own does: its path, itself and why. None: it is elsewhere."""
        self._seen[id(value)] = value
        is_to_blame = True
        for step, part in _parts(value) if level < DEEPEST else ():
            reason = self._reason(part)
            if reason is not None:
                is_to_blame = False
                found = None if id(part) in self._seen else self.culprit(path + step, part, reason, level + 1)
                if found is not None:
                    return found
        return (path, value, error) if is_to_blame or perf_counter_ns() > self._until_ns else None

    def _reason(self, part: Any) -> Exception | None:
        """Why a part cannot be pickled; None if it can, or if the search takes too long."""
        if perf_counter_ns() < self._until_ns:
            try:
                _dumps(part, lambda _: False)
            except Exception as failure:  # noqa: BLE001  reported as the reason
                return failure
        return None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Steps to the parts of a value; none where the user's classes do not let them be looked at."""
    with suppress(Exception):
        if isinstance(value, dict):
            for key, part in value.items():
                yield " key", key
                yield f"[{_shown(key)}]", part
        elif isinstance(value, tuple | list):
            yield from ((f"[{number}]", part) for number, part in enumerate(value))
        elif not isinstance(value, type | FunctionType | ModuleType) and hasattr(value, "__dict__"):
            yield from ((f".{name}", part) for name, part in vars(value).items())


_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 40


def _shown(key: Any) -> str:
    try:
        return _REPR.repr(key)
    except Exception:  # noqa: BLE001  the user's repr, or that of an int of too many digits
        return f"a {type_name(key)}"

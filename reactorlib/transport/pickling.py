"""Pickle protocol 5 with buffers out of band, torch tensors included."""

from __future__ import annotations

import copyreg
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pickle import PickleBuffer
from typing import Any

from reactorlib.errors import WorkerError, type_name, words_of
from reactorlib.transport.structure import array_of

OutOfBand = Callable[[PickleBuffer], bool]  # takes a buffer, or returns True to leave it in the pickle


def dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    """The pickle of a value. WorkerError when it has none."""
    torch = sys.modules.get("torch")
    try:
        if torch is None:
            return pickle.dumps(value, 5, buffer_callback=out_of_band)
        stream = BytesIO()
        pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
        pickler.dispatch_table = {**copyreg.dispatch_table, torch.Tensor: _reduce_tensor}
        pickler.dump(value)
        return stream.getvalue()
    except WorkerError:
        raise
    except Exception as error:
        raise WorkerError(
            f"a value of type {type_name(value)} cannot travel to another worker: "
            f"{type(error).__name__}: {words_of(error)}"
        ) from error


def loads(data: Any, buffers: list[memoryview], sender: int) -> Any:
    """The value of a pickle. WorkerError when it cannot be built in this process."""
    try:
        return pickle.loads(data, buffers=buffers)
    except Exception as error:
        raise WorkerError(
            f"a value from worker {sender} cannot be rebuilt here: {type(error).__name__}: {words_of(error)}"
        ) from error


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
    return _tensor_over, (tensor.as_strided((span,), (1,)).numpy(), shape, strides)


def _tensor_over(array: Any, *layout: tuple[int, ...]) -> Any:
    """A tensor over the memory of an array. If that is read-only, the tensor must not be written either."""
    if not array.flags.writeable:
        array = import_module("numpy").asarray(Writable(array))  # else torch would warn at each
    tensor = import_module("torch").from_numpy(array)
    return tensor.as_strided(*layout) if layout else tensor


class Writable:
    """Presents the memory of a read-only array as writable to NumPy, and keeps it as long as what NumPy makes of it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}

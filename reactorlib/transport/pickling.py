"""Pickle protocol 5 with buffers out of band, torch tensors included."""

from __future__ import annotations

import copyreg
import pickle
import sys
from collections.abc import Callable
from io import BytesIO
from pickle import PickleBuffer
from typing import Any

from reactorlib.errors import WorkerError, type_name, words_of
from reactorlib.transport.arrays import array_of, laid_over, spanned, tensor_over

OutOfBand = Callable[[PickleBuffer], bool]  # takes a buffer, or returns True to leave it in the pickle


def dumps(value: Any, out_of_band: OutOfBand) -> bytes:
    """The pickle of a value. WorkerError when it has none."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    try:
        if numpy is None:
            return pickle.dumps(value, 5, buffer_callback=out_of_band)
        stream = BytesIO()
        pickler = pickle.Pickler(stream, 5, buffer_callback=out_of_band)
        pickler.dispatch_table = {**copyreg.dispatch_table, numpy.ndarray: _reduce_array}
        if torch is not None:
            pickler.dispatch_table[torch.Tensor] = _reduce_tensor
        pickler.dump(value)
        return stream.getvalue()
    except (WorkerError, BufferMetError):
        raise
    except Exception as error:
        raise WorkerError(
            f"a value of type {type_name(value)} cannot travel to another worker: "
            f"{type(error).__name__}: {words_of(error)}"
        ) from error


class BufferMetError(Exception):
    """A pickle was broken off at its first array, tensor or other buffer."""


def no_buffer(_buffer: PickleBuffer) -> bool:
    """Break off a pickle that is not of plain values alone."""
    raise BufferMetError


def loads(data: Any, buffers: list[memoryview], sender: int) -> Any:
    """The value of a pickle. WorkerError when it cannot be built in this process."""
    try:
        return pickle.loads(data, buffers=buffers)
    except Exception as error:
        raise WorkerError(
            f"a value from worker {sender} cannot be rebuilt here: {type(error).__name__}: {words_of(error)}"
        ) from error


# Arrays and tensors: their own ways would lose the order in memory, or copy each into the pickle


def _reduce_array(array: Any) -> Any:
    if array.flags.forc or array.dtype.hasobject:
        return array.__reduce_ex__(5)
    memory, layout = spanned(array)
    return laid_over, (memory, *layout)


def _reduce_tensor(tensor: Any) -> Any:
    if tensor.grad_fn is not None:
        raise TypeError(
            "it is part of a graph of gradients, which stays in its process; set tensor.detach(), and compute "
            "gradients where the graph is"
        )
    array = array_of(tensor)
    if array is None or vars(tensor):
        return tensor.__reduce_ex__(5)
    return tensor_over, (array,) if array.flags.c_contiguous else spanned(array, exact=True)

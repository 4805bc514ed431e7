"""NumPy arrays and torch tensors as memory: what describes one, and how its order in memory survives a journey.

A sum of floats depends on the order of the terms, which NumPy and torch take from the strides. So an array that is not
in C order travels as the memory that it spans, and is laid over that memory again. Gaps between its elements are kept
as gaps, as they decide which axes are summed as one, but a gap shrinks to one element.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

Layout = tuple[tuple[int, ...], tuple[int, ...], int]  # shape, strides and offset, in bytes, over the spanned memory


def array_of(tensor: Any) -> Any:
    """The NumPy view of a torch tensor, or None where there is none (a gradient, another device or layout)."""
    try:
        return tensor.numpy()
    except (RuntimeError, TypeError):
        return None


def code_of(dtype: Any) -> str | None:
    """The description of a number's dtype: its character, after its byte order if that is foreign."""
    if dtype.kind not in "biufc" or dtype.metadata is not None:
        return None
    return str(dtype.char if dtype.isnative else dtype.byteorder + dtype.char)


def spanned(array: Any, exact: bool = False) -> tuple[Any, Layout]:
    """A one-dimensional array of the memory that an array spans, and the layout of the array over it.

    `exact`: gaps keep their size, as of a tensor, whose strides programs do look at.
    """
    numpy = sys.modules["numpy"]
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    whole = array.transpose(order)
    if whole.flags.c_contiguous:
        return whole.reshape(-1), (array.shape, array.strides, 0)
    strides = array.strides if exact else _squeezed(array, reversed(order))
    reach = [(length - 1) * stride for length, stride in zip(array.shape, strides, strict=True)]
    offset = -sum(step for step in reach if step < 0)
    memory = numpy.empty(-(-(offset + sum(step for step in reach if step > 0)) // array.itemsize) + 1, array.dtype)
    layout = array.shape, strides, offset
    numpy.copyto(laid_over(memory, *layout), array)
    return memory, layout


def _squeezed(array: Any, axes: Any) -> tuple[int, ...]:
    """The strides of an array, with gaps of one element. `axes` ascend by stride."""
    strides = list(array.strides)
    old = new = array.itemsize  # the next stride if there is no gap
    for axis in axes:
        length, stride = array.shape[axis], abs(array.strides[axis])
        if length == 1 or stride == 0:
            continue
        if stride < old or (stride - old) % array.itemsize:  # elements overlap, or are not aligned
            return tuple(array.strides)
        step = new if stride == old else new + array.itemsize
        strides[axis] = step if array.strides[axis] > 0 else -step
        old, new = stride * length, step * length
    return tuple(strides)


def laid_over(memory: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    """The array with this layout over a one-dimensional array."""
    return sys.modules["numpy"].ndarray(shape, memory.dtype, memory, offset, strides)


def tensor_over(array: Any, layout: Layout | None = None) -> Any:
    """A tensor over the memory of an array. If that is read-only, the tensor must not be written either."""
    if layout is not None:
        array = laid_over(array, *layout)
    if not array.flags.writeable:
        array = import_module("numpy").asarray(Writable(array))  # else torch would warn at each
    return import_module("torch").from_numpy(array)


class Writable:
    """Presents the memory of a read-only array as writable to NumPy, and keeps it as long as what NumPy makes of it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}

"""Rows of small arrays by column: the equal arrays or tensors of a column in one piece, which a pickle takes at once.

A pickle calls Python for each array in it. For a small array that takes longer than its bytes do. So columns are plain
tuples: those of a class would be calls again.
"""

import sys
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

# A column of arrays, or of NumPy's numbers, of one type and shape. The items are the bytes of all, the type, the shape,
# and whether they are tensors.
Joined: TypeAlias = tuple[bytes, str, tuple[int, ...], bool]
# The width, whether the outer rows are lists, and the columns. Each is a list of values or a `Joined`. The width is the
# number of rows in an outer tuple or list.
Columns: TypeAlias = tuple[int, bool, list[list[Any] | Joined]]

_NUMBERS = "biufc"  # kinds of types
_BARE, _ROWS = -1, 0  # widths where there is no outer tuple: of rows that are arrays, and of rows that are tuples
_dtype, _shape, _is_contiguous = attrgetter("dtype"), attrgetter("shape"), attrgetter("flags.c_contiguous")


def columns_of(rows: list[Any]) -> list[Any] | Columns:
    """Rows by column, if they are arrays, or tuples of one length with arrays in them; otherwise the rows themselves.

    Rows that are outer tuples or lists, each with as many such tuples, are taken apart into these.
    """
    width, inner, are_lists = _ROWS, rows, _are_alike(rows, list)
    if not are_lists and not _are_alike(rows):
        if len(rows) < 2 or type(rows[0]) is not np.ndarray:
            return rows
        width, inner = _BARE, [(row,) for row in rows]
    elif _are_alike(items := list(chain.from_iterable(rows))):
        width, inner = len(rows[0]), items
    elif are_lists:
        return rows
    columns = list(map(_column, zip(*inner, strict=True)))
    return (width, are_lists, columns) if tuple in map(type, columns) else rows


def rows_of(columns: list[Any] | Columns) -> list[Any]:
    """The rows again. Their arrays are read-only."""
    if isinstance(columns, list):
        return columns
    width, are_lists, by_column = columns
    if width == _BARE:
        return list(_values(by_column[0]))
    rows = list(zip(*map(_values, by_column), strict=True))
    if width == _ROWS:
        return rows
    outer = [rows[at : at + width] for at in range(0, len(rows), width)]
    return outer if are_lists else list(map(tuple, outer))


def _are_alike(rows: Sequence[Any], kind: type = tuple) -> bool:
    """Whether there are several rows, which are tuples of one length, or lists."""
    return len(rows) > 1 and {*map(type, rows)} == {kind} and len({*map(len, rows)}) == 1


def _column(values: tuple[Any, ...]) -> list[Any] | Joined:
    first, torch = values[0], sys.modules.get("torch")
    is_tensor = torch is not None and type(first) is torch.Tensor
    is_array = type(first) is np.ndarray
    if not (is_tensor or is_array or isinstance(first, np.generic)) or len({*map(type, values)}) > 1:
        return list(values)
    if len({*map(_dtype, values)}) > 1:
        return list(values)
    if is_tensor:
        return _tensors(torch, values)
    is_number = (
        len({*map(_shape, values)}) == 1
        and first.dtype.kind in _NUMBERS
        and first.size
        and (first.shape or not is_array)
    )
    if not is_number or not all(map(_is_contiguous, values)):
        return list(values)
    return b"".join(values), first.dtype.str, first.shape, False


def _tensors(torch: Any, values: tuple[Any, ...]) -> list[Any] | Joined:
    first = values[0]
    is_plain = first.ndim and first.numel() and not first.dtype.is_complex
    if not is_plain or any(map(attrgetter("requires_grad"), values)):
        return list(values)
    try:
        are_contiguous = all(map(torch.Tensor.is_contiguous, values))
        joined = torch.stack(values).numpy() if are_contiguous else None
    except (RuntimeError, TypeError):  # several shapes, another layout or device, or a type that NumPy lacks
        joined = None
    return list(values) if joined is None else (joined.tobytes(), joined.dtype.str, tuple(first.shape), True)


def _values(column: list[Any] | Joined) -> Any:
    if isinstance(column, list):
        return column
    data, dtype, shape, are_tensors = column
    arrays = np.frombuffer(bytearray(data) if are_tensors else data, dtype).reshape(-1, *shape)
    if not are_tensors:
        return arrays
    from torch import from_numpy

    return map(from_numpy, arrays)

"""Rows of small arrays by column: the equal arrays of a column in one piece, which a pickle takes at once.

A pickle calls Python for each array in it. For a small array that takes longer than its bytes do. So columns are plain
tuples: those of a class would be calls again.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

# A column of arrays, or of NumPy's numbers, of one type and shape: the bytes of all, the type and the shape.
Joined: TypeAlias = tuple[bytes, str, tuple[int, ...]]
# The width, and the columns. Each is a list of values or a `Joined`. The width is the number of rows in an outer tuple.
Columns: TypeAlias = tuple[int, list[list[Any] | Joined]]

_NUMBERS = "biufc"  # kinds of types
_BARE, _ROWS = -1, 0  # widths where there is no outer tuple: of rows that are arrays, and of rows that are tuples


def columns_of(rows: list[Any]) -> list[Any] | Columns:
    """Rows by column, if they are arrays, or tuples of one length with arrays in them; otherwise the rows themselves.

    Rows that are outer tuples, each with as many such tuples, are taken apart into these.
    """
    width, inner = _ROWS, rows
    if not _are_alike(rows):
        if len(rows) < 2 or type(rows[0]) is not np.ndarray:
            return rows
        width, inner = _BARE, [(row,) for row in rows]
    elif _are_alike(items := list(chain.from_iterable(rows))):
        width, inner = len(rows[0]), items
    columns = list(map(_column, zip(*inner, strict=True)))
    return (width, columns) if tuple in map(type, columns) else rows


def rows_of(columns: list[Any] | Columns) -> list[Any]:
    """The rows again. Their arrays are read-only."""
    if isinstance(columns, list):
        return columns
    width, by_column = columns
    if width == _BARE:
        return list(_values(by_column[0]))
    rows = list(zip(*map(_values, by_column), strict=True))
    return rows if width == _ROWS else [tuple(rows[at : at + width]) for at in range(0, len(rows), width)]


def _are_alike(rows: Sequence[Any]) -> bool:
    """Whether there are several rows, which are tuples of one length."""
    return len(rows) > 1 and {*map(type, rows)} == {tuple} and len({*map(len, rows)}) == 1


def _column(values: tuple[Any, ...]) -> list[Any] | Joined:
    first = values[0]
    kind = type(first)
    if kind is not np.ndarray and not isinstance(first, np.generic):
        return list(values)
    dtype, shape = first.dtype, first.shape
    if dtype.kind not in _NUMBERS or not first.size or (kind is np.ndarray and not shape):
        return list(values)
    for one in values:
        if type(one) is not kind or one.dtype != dtype or one.shape != shape or not one.flags.c_contiguous:
            return list(values)
    return b"".join(values), dtype.str, shape


def _values(column: list[Any] | Joined) -> Any:
    if isinstance(column, list):
        return column
    data, dtype, shape = column
    return np.frombuffer(data, dtype).reshape(-1, *shape)

"""Infos of environments: how they travel between processes, and how those of all become one dictionary."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any

import numpy as np

Info = tuple[int, dict[str, Any], dict[str, Any] | None]  # an environment, its infos, and those of its end

PLAIN = {int, float, bool, str, bytes, type(None)}
NUMBERS = {int, float, bool}
ARRAY, SCALAR = 0, 1  # the second item of a tuple that begins with Ellipsis, which stands for something of NumPy


class CodeError(Exception):
    """A value is not of numbers, text and arrays of them alone."""


def marshalled(value: Any) -> bytes:
    """A value of numbers, text, arrays, and tuples, lists and dictionaries of them. Raises CodeError for others.

    `pickle` takes ten times as long for a small array.
    """
    return marshal.dumps(_flat(value))


def unmarshalled(data: Any) -> Any:
    """The value of which `marshalled` returned these bytes."""
    return _restored(marshal.loads(data))


def _flat(value: Any) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple or kind is list:
        return kind([_flat(one) for one in value])
    if kind is dict:
        if not PLAIN.issuperset(map(type, value)):
            raise CodeError
        return value if _is_plain(value) else {key: _flat(one) for key, one in value.items()}
    if kind is np.ndarray and value.dtype.isbuiltin == 1 and not value.dtype.hasobject:
        return ..., ARRAY, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.number | np.bool_):
        return ..., SCALAR, value.dtype.str, value.tobytes()
    raise CodeError


def _is_plain(value: dict[Any, Any]) -> bool:
    """Whether nothing in it has to be replaced, as mostly."""
    return PLAIN.issuperset(map(type, value.values()))


def _restored(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return value if _is_plain(value) else {key: _restored(one) for key, one in value.items()}
    if kind is list:
        return [_restored(one) for one in value]
    if kind is not tuple:
        return value
    if not value or value[0] is not ...:
        return tuple([_restored(one) for one in value])
    if value[1] == SCALAR:
        return np.frombuffer(value[3], value[2])[0]
    return np.ndarray(value[3], value[2], bytearray(value[4]))


def merged(infos: Sequence[Info], n: int) -> dict[str, Any]:
    """The infos of `n` environments as Gymnasium's `_add_info` merges them."""
    columns = _columns(infos, n)
    if columns is None:
        columns = {}
        for row, info, final in infos:
            if final is not None:
                _add(columns, final, row, n)
            _add(columns, info, row, n)
    return columns


def _add(columns: dict[str, Any], info: dict[str, Any], row: int, n: int) -> None:
    for key, value in info.items():
        column = columns.get(key)
        if key != "final_obs" and isinstance(value, dict):
            if column is None:
                column = {}
            _add(column, value, row, n)
        else:
            if column is None:
                column = _empty(key, value, n)
            column[row] = value
        mask = columns.get(f"_{key}")
        if mask is None:
            mask = np.zeros(n, np.bool_)
        mask[row] = True
        columns[key], columns[f"_{key}"] = column, mask


def _empty(key: str, value: Any, n: int) -> Any:
    kind = type(value)
    if key != "final_obs":
        if kind in NUMBERS or issubclass(kind, np.number):
            return np.zeros(n, kind)
        if isinstance(value, np.ndarray):
            return np.zeros((n, *value.shape), value.dtype)
    return np.empty(n, object)


def _columns(infos: Sequence[Info], n: int) -> dict[str, Any] | None:
    """The same, column by column, where all environments have the same plain numbers. None where not."""
    if len(infos) != n:
        return None
    first = infos[0][1]
    keys, kinds = [*first], [type(value) for value in first.values()]
    if not NUMBERS.issuperset(kinds) or any(key == "final_obs" or str(key).startswith("_") for key in keys):
        return None
    for _, info, final in infos:
        if final is not None or [*info] != keys or [type(value) for value in info.values()] != kinds:
            return None
    columns: dict[str, Any] = {}
    for key, kind in zip(keys, kinds, strict=True):
        columns[key] = np.array([info[key] for _, info, _ in infos], dtype=kind)
        columns[f"_{key}"] = np.ones(n, dtype=np.bool_)
    return columns

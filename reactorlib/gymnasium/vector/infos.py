"""Infos of environments: how they travel between processes, and how those of all become one dictionary."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

Info = tuple[int, dict[str, Any], dict[str, Any] | None]  # an environment, its infos, and those of its end

PLAIN = {int, float, bool, str, bytes, type(None)}
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
    """The infos of `n` environments in one dictionary, as Gymnasium's vector environments return them."""
    columns = _columns(infos, n)
    if columns is not None:
        return columns
    columns, vector = {}, VectorEnv()  # whose method is Gymnasium's own way
    vector.num_envs, vector.closed = n, True
    for row, info, final in infos:
        if final is not None:
            columns = vector._add_info(columns, final, row)
        columns = vector._add_info(columns, info, row)
    return columns


def _columns(infos: Sequence[Info], n: int) -> dict[str, Any] | None:
    """The same, column by column, where all environments have the same numbers. None where not."""
    if len(infos) != n:
        return None
    first = infos[0][1]
    keys, kinds = [*first], [type(value) for value in first.values()]
    if not all(kind in (int, float, bool) or issubclass(kind, np.number) for kind in kinds):
        return None
    if any(key == "final_obs" or str(key).startswith("_") for key in keys):
        return None
    for _, info, final in infos:
        if final is not None or [*info] != keys or [type(value) for value in info.values()] != kinds:
            return None
    columns: dict[str, Any] = {}
    for key, kind in zip(keys, kinds, strict=True):
        columns[key] = np.array([info[key] for _, info, _ in infos], dtype=kind)
        columns[f"_{key}"] = np.ones(n, dtype=np.bool_)
    return columns

"""The structure of a value, as plain data: what a codec is written for and what a message says of itself.

A structure is a string for a leaf or a tuple for the rest:

    'N' None   '?' bool   'q' int of 64 bits   'd' float   's' str   'o' anything, pickled
    'y' bytes, in the message   'Y' bytes, through the arena
    ('n', dtype)          a NumPy scalar
    ('a', dtype, shape)   a small array, in the message       ('t', dtype, shape) the same as a torch tensor
    ('v', dtype, ndim)    a small array of varying shape      ('u', dtype, ndim)
    ('A', dtype, ndim)    a large array, in the arena         ('T', dtype, ndim)
    ('(', ...) tuple   ('[', ...) list   ('{', keys, ...) dict by str and int     ('C', class, ...) NamedTuple

In the bytes of a message a run of equal members is written once, after its number.
"""

from __future__ import annotations

import marshal
import pickle
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from typing import Any

Structure = str | tuple[Any, ...]

LEAVES = 512  # larger values are pickled as a whole
DEPTH = 32  # so are values of deeper nesting, cycles among them
PLAIN_LEAVES = 64  # the same without an array: then pickle is as fast
MOST_INT = 1 << 63  # of a key; others are pickled with their dict
SHORT = 8192  # the longest message; what is longer is itself put into the arena
BIG = SHORT - 512  # bytes from which an array or bytes travel through the arena: less fits into a message

VALUES = 1  # the depth at which they begin: what is described is a tuple of the values of cells

ARRAYS = "atvuAT"
CONTAINERS: dict[str, type] = {"(": tuple, "[": list, "{": dict, "C": tuple}
_PLAIN: dict[type, str] = {type(None): "N", bool: "?", int: "q", float: "d", str: "s", bytes: "y"}
_SCALARS = "?bBhHiIlLqQefd"  # characters of the dtypes whose scalars `struct` can write


class TooLargeError(Exception):
    """The value has more than LEAVES parts, they are nested too deeply, or one is in it twice."""


class Describer:
    """Describes one value; `loose` gives arrays of any shape one structure."""

    def __init__(self, loose: bool = False) -> None:
        self._loose = loose
        self._leaves = 0
        self._arrays = 0
        self._shared: set[int] = set()  # ids of what a receiver may change
        self._pickled = 0  # parts
        self._seen_arrays: set[int] = set()  # ids, of one member of the outermost tuple: of one value

    def describe(self, value: Any) -> Structure:
        """The structure of a value; 'o' if it is large, and best left to pickle."""
        try:
            structure = self._describe(value)
        except TooLargeError:
            return "o"
        if self._pickled and len(self._shared) > 1:
            return "o"  # what is pickled may refer to another part: only a pickle of the whole keeps it one
        return structure if self._arrays or self._leaves <= PLAIN_LEAVES else "o"

    def _describe(self, value: Any, depth: int = 0) -> Structure:
        self._leaves += 1
        if self._leaves > LEAVES or depth > DEPTH:
            raise TooLargeError
        if depth == VALUES:
            self._seen_arrays.clear()
        kind = type(value)
        structure = self._of_kind(kind, value, depth)
        if structure == "o" or kind is list or kind is dict:
            if id(value) in self._shared:
                raise TooLargeError  # one object in two places: only a pickle of the whole keeps it one
            self._shared.add(id(value))
            self._pickled += structure == "o"
        elif structure[0] in ARRAYS:
            if id(value) in self._seen_arrays:
                raise TooLargeError
            self._seen_arrays.add(id(value))
        return structure

    def _of_kind(self, kind: type, value: Any, depth: int) -> Structure:
        plain = _PLAIN.get(kind)
        if plain is not None:
            return "Y" if plain == "y" and len(value) >= BIG else plain
        if kind is tuple:
            return ("(", *self._members(value, depth))
        if kind is list:
            return ("[", *self._members(value, depth))
        if kind is dict:
            if all(type(key) is str or (type(key) is int and -MOST_INT <= key < MOST_INT) for key in value):
                return ("{", tuple(value), *self._members(value.values(), depth))
            return "o"
        if issubclass(kind, tuple) and is_named_tuple(kind):
            return ("C", pickle.dumps(kind, 5), *self._members(value, depth))
        return self._of_arrays(kind, value)

    def _members(self, values: Iterable[Any], depth: int) -> Iterator[Structure]:
        for value in values:
            yield self._describe(value, depth + 1)

    def _of_arrays(self, kind: type, value: Any) -> Structure:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return "o"
        if kind is numpy.ndarray:
            if value.flags.fnc:  # Fortran's order, which a pickle keeps: in another order sums come out otherwise
                return "o"
            return self._array(value, "avA")
        if issubclass(kind, numpy.generic):
            char = value.dtype.char
            return ("n", char) if char in _SCALARS and numpy.dtype(char).type is kind else "o"
        torch = sys.modules.get("torch")
        if torch is not None and kind is torch.Tensor and value.is_contiguous() and not vars(value):
            array = array_of(value)
            if array is not None:
                return self._array(array, "tuT")
        return "o"

    def _array(self, array: Any, kinds: str) -> Structure:
        code = code_of(array.dtype)
        if code is None:
            return "o"
        self._arrays += 1
        if array.nbytes >= BIG:
            return kinds[2], code, array.ndim
        if self._loose:
            return kinds[1], code, array.ndim
        return kinds[0], code, array.shape


def code_of(dtype: Any) -> str | bytes | None:
    """What stands for a dtype in a structure: the character of a builtin one, else its pickle; None for objects."""
    if dtype.hasobject or dtype.metadata is not None:
        return None
    if dtype.kind in "biufc" and dtype == dtype_of(dtype.char):
        return str(dtype.char)
    return pickle.dumps(dtype, 5)


def dtype_of(code: str | bytes) -> Any:
    """The dtype that a structure means."""
    if isinstance(code, str):
        return import_module("numpy").dtype(code)
    return pickle.loads(code)


def same_dtype(dtype: Any, known: Any) -> bool:
    """Whether a dtype is another object, but the same in all that matters."""
    if dtype.kind == "V":  # equal ones may differ in alignment, in the type of their scalars, in their fields' metadata
        return pickle.dumps(dtype, 5) == pickle.dumps(known, 5)
    return bool(dtype == known and dtype.char == known.char and dtype.metadata is None)


def same_keys(mapping: dict[Any, Any], keys: tuple[Any, ...]) -> bool:
    """Whether a dict has exactly these keys, of exactly these types, in this order."""
    if len(mapping) != len(keys):
        return False
    # The types first: a key of another type may refuse to be compared.
    return all(type(key) is type(known) for key, known in zip(mapping, keys, strict=True)) and tuple(mapping) == keys


def array_of(tensor: Any) -> Any:
    """The NumPy view of a torch tensor, or None where there is none (a gradient, another device or layout)."""
    try:
        return tensor.numpy()
    except (RuntimeError, TypeError):
        return None


def is_named_tuple(cls: type) -> bool:
    """Whether instances of a class are a tuple's members and nothing more, and the class can be named."""
    plain = (
        cls.__bases__ == (tuple,)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and not {"__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__dict__"} & vars(cls).keys()
    )
    if not plain:
        return False
    try:
        return pickle.loads(pickle.dumps(cls, 5)) is cls
    except Exception:  # noqa: BLE001  a class that cannot be named travels as any other value, or says so there
        return False


def pack(structure: Structure) -> bytes:
    """The bytes of a structure."""
    return marshal.dumps(_fold(structure), 2)


def unpack(data: bytes) -> Structure:
    """The structure whose bytes these are."""
    return _unfold(marshal.loads(data))


def has_large_arrays(structure: Structure) -> bool:
    """Whether some leaf of a structure is a large array or tensor."""
    if structure[0] in "AT":
        return True
    return structure[0] in CONTAINERS and any(map(has_large_arrays, structure[members_from(structure) :]))


def members_from(structure: Structure) -> int:
    """Where the members of a container begin: after its kind, and after its keys or class."""
    return 2 if structure[0] in "{C" else 1


def _fold(structure: Structure) -> Any:
    if structure[0] not in CONTAINERS:
        return structure
    first = members_from(structure)
    folded: list[Any] = list(structure[:first])
    for _, run in groupby(structure[first:], key=repr):  # repr: str and bytes must not be compared
        member, *more = run
        number = 1 + len(more)
        folded += [_fold(member)] if number == 1 else [number, _fold(member)]
    return tuple(folded)


def _unfold(folded: Any) -> Structure:
    if folded[0] not in CONTAINERS:
        return folded  # type: ignore[no-any-return]
    first = members_from(folded)
    return (*folded[:first], *_members(folded[first:]))


def _members(folded: Iterable[Any]) -> Iterator[Structure]:
    number = 1
    for member in folded:
        if isinstance(member, int):
            number = member
        else:
            structure = _unfold(member)
            for _ in range(number):
                yield structure
            number = 1


class Writable:
    """Presents the memory of a read-only array as writable to NumPy, and keeps it as long as what NumPy makes of it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}

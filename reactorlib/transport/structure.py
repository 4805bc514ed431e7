"""The structure of a value, as plain data: what a codec is written for and what a message says of itself.

A structure is a string for a leaf or a tuple for the rest:

    'N' None   '?' bool   'q' int of 64 bits   'd' float   's' str   'o' anything, pickled
    'y' bytes, in the message   'Y' bytes, through the arena
    ('n', char)          a NumPy scalar, by the character of its dtype
    ('a', char, shape)   a small array, in the message        ('t', char, shape) the same as a torch tensor
    ('v', char, ndim)    a small array of varying shape       ('u', char, ndim)
    ('A', char, ndim)    a large array, in the arena          ('T', char, ndim)
    ('(', ...) tuple   ('[', ...) list   ('{', keys, ...) dict with keys of type str   ('C', class, ...) NamedTuple

In the bytes of a message a run of equal members is written once, after its number.
"""

from __future__ import annotations

import marshal
import pickle
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

Structure = str | tuple[Any, ...]

LEAVES = 512  # larger values are pickled as a whole
BIG = 2048  # bytes from which an array travels through the arena

SHORT = 4096  # the longest message; what is longer is itself put into the arena

_PLAIN: dict[type, str] = {type(None): "N", bool: "?", int: "q", float: "d", str: "s", bytes: "y"}
_CHARS = "?bBhHiIlLqQefd"  # dtypes whose scalars `struct` can write
_ARRAY_CHARS = _CHARS + "gFDG"


class TooLargeError(Exception):
    """The value has more than LEAVES leaves."""


class Describer:
    """Describes one value; `loose` gives arrays of any shape one structure."""

    def __init__(self, loose: bool = False) -> None:
        self.loose = loose
        self.leaves = 0

    def describe(self, value: Any) -> Structure:
        """The structure of a value. TooLargeError if it has too many leaves."""
        kind = type(value)
        self.leaves += 1
        if self.leaves > LEAVES:
            raise TooLargeError
        plain = _PLAIN.get(kind)
        if plain is not None:
            return "Y" if plain == "y" and len(value) >= BIG else plain
        if kind is tuple:
            return ("(", *map(self.describe, value))
        if kind is list:
            return ("[", *map(self.describe, value))
        if kind is dict:
            if all(type(key) is str for key in value):
                return ("{", tuple(value), *map(self.describe, value.values()))
            return "o"
        if issubclass(kind, tuple) and is_named_tuple(kind):
            return ("C", pickle.dumps(kind, 5), *map(self.describe, value))
        return self._of_arrays(kind, value)

    def _of_arrays(self, kind: type, value: Any) -> Structure:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return "o"
        if kind is numpy.ndarray:
            return self._array(numpy, value, "avA")
        if issubclass(kind, numpy.generic):
            char = value.dtype.char
            return ("n", char) if char in _CHARS and numpy.dtype(char).type is kind else "o"
        torch = sys.modules.get("torch")
        if torch is not None and kind is torch.Tensor:
            array = array_of(value)
            if array is not None:
                return self._array(numpy, array, "tuT")
        return "o"

    def _array(self, numpy: Any, array: Any, kinds: str) -> Structure:
        char = array.dtype.char
        if char not in _ARRAY_CHARS or not same_dtype(array.dtype, numpy.dtype(char)):
            return "o"
        if array.nbytes >= BIG:
            return kinds[2], char, array.ndim
        if self.loose:
            return kinds[1], char, array.ndim
        return kinds[0], char, array.shape


def same_dtype(dtype: Any, builtin: Any) -> bool:
    """Whether a dtype is a builtin one in all that can be seen, though perhaps another object."""
    return bool(dtype.char == builtin.char and dtype == builtin and dtype.metadata is None)


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
    """The bytes of a structure; equal structures have equal bytes."""
    return marshal.dumps(_fold(structure), 2)


def unpack(data: bytes) -> Structure:
    """The structure whose bytes these are."""
    return _unfold(marshal.loads(data))


def has_large_arrays(structure: Structure) -> bool:
    """Whether some leaf of a structure is a large array or tensor."""
    if structure[0] in "AT":
        return True
    return _is_container(structure) and any(map(has_large_arrays, structure[members_from(structure) :]))


def members_from(structure: Structure) -> int:
    """Where the members of a container begin: after its kind, and after its keys or class."""
    return 2 if structure[0] in "{C" else 1


def _is_container(structure: Structure) -> bool:
    return structure[0] in "([{C"


def _fold(structure: Structure) -> Any:
    if not _is_container(structure):
        return structure
    first = members_from(structure)
    folded: list[Any] = list(structure[:first])
    for member, run in groupby(structure[first:]):
        number = sum(1 for _ in run)
        folded += [_fold(member)] if number == 1 else [number, _fold(member)]
    return tuple(folded)


def _unfold(folded: Any) -> Structure:
    if not _is_container(folded):
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

"""The structure of what a message carries, as plain data. Encoders and decoders are written for one structure.

A structure is a string for a leaf or a tuple for the rest:

    'N' None   '?' bool   'q' int of 64 bits   'd' float   's' str   'o' any other value: by column, or pickled
    'y' bytes, in the message   'Y' bytes, in a block beside it
    ('n', code)                  a NumPy scalar; `code` is of its dtype
    ('a', code, shape, tensor)   a small array, in the message; `tensor`: as a torch tensor
    ('v', code, ndim, tensor)    a small array of varying shape, in the message
    ('A', code, ndim, tensor)    a large array, in a block beside it
    ('(', ...) tuple   ('[', ...) list   ('{', keys, ...) dict by str and int

A message carries a tuple of values, each set by one reaction. A value with any part of another type, or with one
list, dict or array in two places, has the structure 'o'. It keeps what is shared in it, as it does in one thread.
"""

from __future__ import annotations

import sys
from itertools import chain, islice
from typing import Any

from reactorlib.transport.arrays import array_of, code_of

Structure = str | tuple[Any, ...]

# Containers included. A message with more goes by column, as the source of its functions would grow with it. Both cost
# the same per row at this size.
PARTS = 512
# The same for one without arrays, which is pickled, and for one of a place whose messages vary. Pickle is as fast from
# 60 parts of mixed type on, from 200 floats (both: 7 us).
FEW_PARTS = 64
DEPTH = 32  # values of deeper nesting are pickled, cycles among them
MOST_INT = 1 << 63  # of a key
LARGE_BYTES = 7680  # arrays and bytes of this size go into blocks; smaller ones fit into a message

CONTAINERS: dict[str, type] = {"(": tuple, "[": list, "{": dict}
_PLAIN: dict[type, str] = {type(None): "N", bool: "?", int: "q", float: "d", str: "s", bytes: "y"}
_SCALARS = "?bBhHiIlLqQefd"  # characters of the dtypes whose scalars `struct` can write


class OddError(Exception):
    """A value has no structure, or no columns."""


class Describer:
    """Describes one message. `loose` gives small arrays of any shape one structure, and refuses all but few parts."""

    def __init__(self, loose: bool = False) -> None:
        self._loose = loose
        self._most = FEW_PARTS if loose else PARTS
        self._arrays = 0
        self._shareable: set[int] = set()  # ids of lists, dicts and arrays in the value that is described
        self._known: dict[Structure, Structure] = {}  # equal structures are one object, which pickle writes once

    def describe(self, message: Any) -> Structure:
        """The structure of a tuple of values, or of one value; 'o' if no functions should be written for it."""
        parts = _parts_of(message, self._most)
        if parts > self._most:
            return "o"
        values = message if type(message) is tuple else (message,)
        found = [self._value(value) for value in values]
        if parts > (self._most if self._arrays else FEW_PARTS) or all(one == "o" for one in found):
            return "o"
        return ("(", *found) if values is message else found[0]

    def _value(self, value: Any) -> Structure:
        self._shareable.clear()
        try:
            return self._part(value, 1)
        except OddError:
            return "o"

    def _part(self, part: Any, depth: int) -> Structure:
        kind = type(part)
        plain = _PLAIN.get(kind)
        if plain is not None:
            return "Y" if plain == "y" and len(part) >= LARGE_BYTES else plain
        structure = self._container(kind, part, depth) or _scalar(kind, part) or self._array(kind, part)
        if structure[0] not in "(n":
            if id(part) in self._shareable:
                raise OddError
            self._shareable.add(id(part))
        return self._known.setdefault(structure, structure)

    def _container(self, kind: type, part: Any, depth: int) -> Structure | None:
        if kind not in CONTAINERS.values():
            return None
        if depth > DEPTH:
            raise OddError
        if kind is not dict:
            return ("(" if kind is tuple else "[", *(self._part(member, depth + 1) for member in part))
        if not all(type(key) is str or (type(key) is int and -MOST_INT <= key < MOST_INT) for key in part):
            raise OddError
        return ("{", tuple(part), *(self._part(member, depth + 1) for member in part.values()))

    def _array(self, kind: type, part: Any) -> Structure:
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        array = None
        if numpy is not None and kind is numpy.ndarray and part.flags.c_contiguous:
            array = part
        elif torch is not None and kind is torch.Tensor and part.is_contiguous() and not vars(part):
            array = array_of(part)
        code = None if array is None else code_of(array.dtype)
        if array is None or code is None:
            raise OddError
        self._arrays += 1
        tensor = array is not part
        if array.nbytes >= LARGE_BYTES:
            return "A", code, array.ndim, tensor
        return ("v", code, array.ndim, tensor) if self._loose else ("a", code, array.shape, tensor)


def _parts_of(message: Any, most: int) -> int:
    """How many parts a message has, containers included; any number above `most` if there are more."""
    level, parts = [message], 0
    while level and parts <= most:
        parts += len(level)
        within = (part.values() if type(part) is dict else part for part in level if type(part) in CONTAINERS.values())
        level = [*islice(chain.from_iterable(within), most + 1)]
    return parts


def _scalar(kind: type, part: Any) -> Structure | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not issubclass(kind, numpy.generic):
        return None
    char = part.dtype.char
    if char not in _SCALARS or numpy.dtype(char).type is not kind:
        raise OddError
    return "n", char


def has_keys(mapping: dict[Any, Any], keys: tuple[Any, ...]) -> bool:
    """Whether a dict of that length has exactly these keys, of exactly these types, in this order."""
    # The types first: a key of another type may refuse to be compared.
    return all(type(key) is type(known) and key == known for key, known in zip(mapping, keys, strict=True))


def members_of(structure: Structure) -> tuple[Structure, ...]:
    """The structures in a container, in order."""
    return structure[2:] if structure[0] == "{" else structure[1:]  # type: ignore[return-value]


def has_blocks(structure: Structure) -> bool:
    """Whether some array or bytes lie in a block beside the message."""
    if structure[0] in CONTAINERS:
        return any(map(has_blocks, members_of(structure)))
    return structure[0] in "AY"

"""Values of any number of parts to messages and back, by column. A value keeps its exact type; see structure.py.

Rows of one form are taken apart into columns, one for each field, and columns into columns of their own. Each step is
one call of a function in C for a whole column. So the cost per row is the same for ten rows and for a million. Another
number of rows, other shapes and a None now and then need no new description. In the end there are columns of numbers
and strings, which `marshal` writes, and arrays of one dtype, whose bytes follow.

A plan is what `marshal` writes: a list for a column of plain values, or a tuple that begins with one of

    "(" tuples, "[" lists   `how` and a content. `how` is None: a plan for each field. A number: one plan for the
                            members of all rows, each with so many. A list: the same, with the length of each row
    "{" dicts               the keys that occur, which of them each row has (None: the first), a plan of value tuples;
                            if all are empty, None, None and how many there are
    "|" values of several kinds: the number of the kind of each, and a plan for each kind
    "&" values in several places: which one is in each place, and a plan of the different ones
    "t" tensors: a plan of arrays      "/" arrays not in C order: their layouts, and a plan of their memory
    "=" arrays of one shape, "v" of several shapes, "A" in blocks beside the message      "n" NumPy's scalars
"""

from __future__ import annotations

import marshal
import operator
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import accumulate, chain, compress, count, islice, repeat, starmap
from math import prod
from operator import countOf
from struct import Struct
from typing import Any

from reactorlib.transport.arrays import code_of, laid_over, spanned
from reactorlib.transport.structure import DEPTH, LARGE_BYTES, OddError

Plan = Any
Lend = Callable[[int, int, int], Any]  # makes a buffer of a reference

_REFERENCE = Struct("<QQQ")
ALIGN = 16  # of the bytes of each column of arrays
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_NESTED = frozenset({tuple, list})
_KNOWN = PLAIN | _NESTED | {dict}
_KEYS = frozenset({str, int})  # types of keys that are equal only if they are the same
_dtype, _shape, _ndim, _nbytes = map(operator.attrgetter, ("dtype", "shape", "ndim", "nbytes"))
_char, _metadata = map(operator.attrgetter, ("dtype.char", "dtype.metadata"))
_c_contiguous, _requires_grad = map(operator.attrgetter, ("flags.c_contiguous", "requires_grad"))


def taken_apart(value: Any) -> Taken | None:
    """A value by column; None if it must be pickled."""
    try:
        taken = Taken(value)
        taken = taken if taken.is_exact else Taken(value, shared=True)
    except (OddError, ValueError):  # ValueError: of a string of more than 2 GiB
        return None
    return taken if taken.is_exact else None


class Taken:
    """One value taken apart. `is_exact`: an object in several places stays one object.

    `shared`: find lists, dicts and arrays in several places, where these places are in one column. This takes longer.
    """

    def __init__(self, value: Any, shared: bool = False) -> None:
        self._shared = shared
        self._ids: list[int] = []  # of lists, dicts and arrays
        self._pieces: list[Any] = []
        self._at = 0
        self._large: list[Any] = []
        plan = self._part([value], 0)
        self.is_exact = len({*self._ids}) == len(self._ids)
        self.has_arrays = bool(self._pieces or self._large)
        self._plan = marshal.dumps((plan, len(self._large)), 2)

    def message(self, head: Callable[[int], bytes], place: Callable[[Any], tuple[int, int, int]]) -> bytes:
        """The bytes of the value, after a head that is made of the length of the plan. `place` takes large arrays."""
        begin = head(len(self._plan)) + self._plan + b"".join(starmap(_REFERENCE.pack, map(place, self._large)))
        return b"".join((begin, bytes(-len(begin) % ALIGN), *self._pieces))

    def _part(self, column: Sequence[Any], depth: int) -> Plan:
        kind = type(column[0])
        kinds = {kind} if countOf(map(type, column), kind) == len(column) else {*map(type, column)}
        if kinds <= PLAIN:
            return list(column)
        if depth > DEPTH or not all(map(_is_known, kinds)):
            raise OddError
        if len(kinds) > 1:
            names = {kind: None if kind in PLAIN else kind for kind in kinds}
            return self._split(column, [*map(names.__getitem__, map(type, column))], self._part, depth)
        if kind is tuple:
            return self._rows("(", column, depth)
        if kind not in _KNOWN and issubclass(kind, sys.modules["numpy"].generic):
            return self._scalars(kind, column)
        if self._shared and len({*map(id, column)}) < len(column):
            return self._different(column, depth)
        self._ids += map(id, column)
        if kind is list:
            return self._rows("[", column, depth)
        if kind is dict:
            return self._dicts(column, depth)
        if kind is sys.modules["numpy"].ndarray:
            return self._arrays(column, depth)
        return "t", self._tensors(column, depth)

    def _split(self, column: Sequence[Any], keys: list[Any], part: Callable[..., Plan], depth: int) -> Plan:
        """Parts of a column by a key of each member. There are few keys."""
        numbers = dict(zip(dict.fromkeys(keys), count()))
        which = bytes(map(numbers.__getitem__, keys))
        groups = (list(compress(column, map(number.__eq__, which))) for number in range(len(numbers)))
        return "|", which, [part(group, depth) for group in groups]

    def _different(self, column: Sequence[Any], depth: int) -> Plan:
        different = dict(zip(map(id, column), column, strict=True))
        numbers = dict(zip(different, count()))
        return "&", [*map(numbers.__getitem__, map(id, column))], self._part([*different.values()], depth)

    def _rows(self, sort: str, rows: Sequence[Any], depth: int) -> Plan:
        """Tuples or lists: by field, or as one column of all members where there are few rows, or members are alike."""
        how: Any = len(rows[0])
        if countOf(map(len, rows), how) < len(rows):
            how = [*map(len, rows)]
        if how == 0:
            return sort, 0, len(rows)
        kinds = {*map(type, rows[0])}
        are_nested = len(kinds) == 1 and kinds <= _NESTED
        if type(how) is int and how <= len(rows) and not (are_nested or kinds <= PLAIN or self._shared):
            members = [*chain.from_iterable(rows)]  # `zip` would make an iterator for each row
            return sort, None, [self._part(members[at::how], depth + 1) for at in range(how)]
        if sort == "(" and are_nested and 2 * len({*map(id, rows)}) <= len(rows):  # some grow to 2**DEPTH members
            return self._different(rows, depth + 1)
        return sort, how, self._part([*chain.from_iterable(rows)], depth + 1)

    def _dicts(self, dicts: Sequence[dict[Any, Any]], depth: int) -> Plan:
        if not any(dicts):
            return "{", None, None, len(dicts)
        if not {*map(type, chain.from_iterable(dicts))} <= _KEYS:
            raise OddError
        keys = [*map(tuple, dicts)]
        values = self._rows("(", [*map(tuple, map(dict.values, dicts))], depth)
        if keys.count(keys[0]) == len(keys):
            return "{", keys[:1], None, values
        numbers = dict(zip(dict.fromkeys(keys), count()))
        return "{", [*numbers], [*map(numbers.__getitem__, keys)], values

    # NumPy and torch

    def _placed(self, data: Any, nbytes: int) -> int:
        """Where these bytes will be, after the plan."""
        at, fill = self._at, -nbytes % ALIGN
        self._pieces += (data, bytes(fill)) if fill else (data,)
        self._at += nbytes + fill
        return at

    def _scalars(self, kind: type, scalars: Sequence[Any]) -> Plan:
        code = code_of(scalars[0].dtype)
        if code is None or sys.modules["numpy"].dtype(code).type is not kind:
            raise OddError
        data = b"".join(scalars)
        return "n", code, len(scalars), self._placed(data, len(data)), len(data)

    def _arrays(self, arrays: Sequence[Any], depth: int, are_tensors: bool = False) -> Plan:
        first = arrays[0]
        if first.nbytes < LARGE_BYTES and _are_alike(arrays, first):
            with suppress(TypeError):  # one has no buffer, or is not in C order
                return self._equal(code_of(first.dtype), first.shape, b"".join(arrays), len(arrays))
        if any(map(_metadata, arrays)):
            raise OddError
        names = [*zip(map(_dtype, arrays), map(_char, arrays), strict=True)]  # two equal dtypes may have two types
        codes = {name: code_of(name[0]) for name in {*names}}
        of_each = map(codes.__getitem__, names)
        are_large = map(LARGE_BYTES.__le__, map(_nbytes, arrays))
        keys = [*zip(of_each, map(_c_contiguous, arrays), are_large, strict=True)]
        if len({*keys}) > 1:
            return self._split(arrays, keys, partial(self._arrays, are_tensors=are_tensors), depth)
        code, is_contiguous, is_large = keys[0]
        if code is None:
            raise OddError
        if not is_contiguous:
            memories, layouts = zip(*map(spanned, arrays, repeat(are_tensors)), strict=True)
            return "/", layouts, self._arrays(memories, depth)
        shapes = [*map(_shape, arrays)]
        if is_large:
            self._large += arrays
            return "A", code, shapes, len(self._large) - len(arrays)
        data = b"".join(arrays)
        return "v", code, shapes, self._placed(data, len(data)), len(data)

    def _tensors(self, tensors: Sequence[Any], depth: int) -> Plan:
        torch, first = sys.modules["torch"], tensors[0]
        if any(map(vars, tensors)) or any(map(_requires_grad, tensors)):
            raise OddError
        if len({*map(_dtype, tensors)}) == 1 and not first.is_complex():
            with suppress(
                RuntimeError, TypeError
            ):  # several shapes, another device or layout, a dtype that NumPy lacks
                if first.nbytes < LARGE_BYTES and all(map(torch.Tensor.is_contiguous, tensors)):
                    data = torch.stack(tensors).numpy()
                    return self._equal(code_of(data.dtype), tuple(first.shape), data, len(tensors))
        try:
            arrays = [*map(torch.Tensor.numpy, tensors)]
        except (RuntimeError, TypeError) as error:
            raise OddError from error
        return self._arrays(arrays, depth, are_tensors=True)

    def _equal(self, code: str | None, shape: tuple[int, ...], data: Any, number: int) -> Plan:
        if code is None:
            raise OddError
        nbytes = len(data) if type(data) is bytes else data.nbytes
        return "=", code, shape, number, self._placed(data, nbytes), nbytes


class Given:
    """A message put together again. Its arrays are read-only, and lie where they arrived."""

    def __init__(self, message: Any, at: int, length: int, lend: Lend, borrow: Lend) -> None:
        self._data = message
        self._lend = lend
        self._borrow = borrow
        plan, large = marshal.loads(message[at : at + length])
        end = at + length + large * _REFERENCE.size
        self._references = [*_REFERENCE.iter_unpack(message[at + length : end])] if large else []
        self._start = end + -end % ALIGN
        [self.value] = self._part(plan)

    def _part(self, plan: Plan, writable: bool = False) -> Sequence[Any]:
        if type(plan) is list:
            return plan
        sort = plan[0]
        if sort in "([":
            return self._rows(*plan)
        if sort == "{":
            _, keys, which, values = plan
            if keys is None:
                return [*map(dict, repeat((), values))]
            of_each = repeat(keys[0]) if which is None else map(keys.__getitem__, which)
            return [*map(dict, map(zip, of_each, self._part(values)))]
        if sort == "|":
            kinds = [iter(self._part(one, writable)) for one in plan[2]]
            return [*map(next, map(kinds.__getitem__, plan[1]))]
        if sort == "&":
            return [*map(self._part(plan[2]).__getitem__, plan[1])]
        if sort == "t":
            return [*map(import_module("torch").from_numpy, self._part(plan[1], writable=True))]
        if sort == "/":
            return [laid_over(memory, *one) for one, memory in zip(plan[1], self._part(plan[2], writable), strict=True)]
        return self._arrays(writable, *plan)

    def _rows(self, sort: str, how: Any, content: Any) -> Sequence[Any]:
        if how is None:
            rows = zip(*map(self._part, content), strict=True)
            return [*rows] if sort == "(" else [*map(list, rows)]
        kind = tuple if sort == "(" else list
        if how == 0:
            return [*map(kind, repeat((), content))]
        members = iter(self._part(content))
        if type(how) is list:
            return [*map(kind, map(islice, repeat(members), how))]
        rows = zip(*[members] * how, strict=True)
        return [*rows] if sort == "(" else [*map(list, rows)]

    def _arrays(self, writable: bool, sort: str, code: str, shape: Any, *where: Any) -> Sequence[Any]:
        numpy = sys.modules.get("numpy") or import_module("numpy")  # the second takes 5 us
        dtype, data = numpy.dtype(code), self._data
        if sort == "A":
            references = self._references[where[0] : where[0] + len(shape)]
            buffers = starmap(self._borrow if writable else self._lend, references)
            return [*map(numpy.ndarray, shape, repeat(dtype), buffers)]
        *number, at, nbytes = where
        begin = self._start + at
        if writable:
            data, begin = bytearray(data[begin : begin + nbytes]), 0
        if sort == "n":
            return [*numpy.ndarray(shape, dtype, data, begin)]
        if sort == "=" and shape:
            return [*numpy.ndarray((*number, *shape), dtype, data, begin)]
        shapes = shape if sort == "v" else [shape] * number[0]
        sizes = map(operator.mul, map(prod, shapes), repeat(dtype.itemsize))
        return [*map(numpy.ndarray, shapes, repeat(dtype), repeat(data), accumulate(sizes, initial=begin))]


def _are_alike(arrays: Sequence[Any], first: Any) -> bool:
    """Whether arrays have the shape and dtype of the first of them."""
    number = len(arrays)
    if not all(map(operator.is_, map(_dtype, arrays), repeat(first.dtype))):  # two equal ones may have two types
        return False
    if first.ndim == 1:  # takes a third of the time
        return countOf(map(_ndim, arrays), 1) == number == countOf(map(len, arrays), len(first))
    return countOf(map(_shape, arrays), first.shape) == number


def _is_known(kind: type) -> bool:
    if kind in _KNOWN:
        return True
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    is_numpy = numpy is not None and (kind is numpy.ndarray or issubclass(kind, numpy.generic))
    return is_numpy or (torch is not None and kind is torch.Tensor)

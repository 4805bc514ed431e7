"""The values of cells as part of a message, and back: functions written for the cells of one place, line by line.

A message is the encoded values of the cells that are present, a bit for each cell that says whether it is (in
whole bytes), and the kind of the message in one byte. What comes last is looked at first, so that a message in
which every cell is present is decoded where it lies. Cells go by number in the source: no name of the program is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.worker.cells import Reader

LONGEST = 64  # cells that are written out; for more a loop is as good

Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]
Blame = Callable[[WorkerError], WorkerError]  # names the cell that an error is about


def packer(cells: Sequence[Reader], encode: Encode, kind: int, blame: Blame) -> Callable[[], bytes]:
    """A function that makes the message of these cells."""
    ending = bytes([kind])
    whole = _all_present(len(cells)) + ending

    def some() -> bytes:
        values = [cell.value for cell in cells if cell.is_present]
        mask = sum(1 << position for position, cell in enumerate(cells) if cell.is_present)
        bits = mask.to_bytes(_size(len(cells)), "little")
        return (encode(tuple(values)) if values else b"") + bits + ending

    make = _pack_maker(len(cells) if len(cells) <= LONGEST else 0)
    pack: Callable[[], bytes] = make(cells, encode, whole, some, blame, WorkerError)
    return pack


def unpacker(cells: Sequence[Reader], decode: Decode, blame: Blame) -> Callable[[bytes], None]:
    """A function that makes present what the sender's cells held."""
    size, whole = _size(len(cells)), _all_present(len(cells))

    def some(message: bytes) -> None:
        bits = message[-1 - size : -1]
        if not any(bits):
            return
        mask = int.from_bytes(bits, "little")
        present = cells if bits == whole else [cell for n, cell in enumerate(cells) if mask >> n & 1]
        for cell, value in zip(present, decode(message), strict=True):
            cell.value = value
            cell.is_present = True

    make = _unpack_maker(len(cells) if len(cells) <= LONGEST else 0)
    unpack: Callable[[bytes], None] = make(cells, decode, whole, some, blame, WorkerError)
    return unpack


def values_of(cells: Sequence[Reader], encode: Encode, blame: Blame) -> Callable[[], bytes]:
    """A function that encodes what these cells hold, present or not."""
    value: Callable[[], bytes] = _values_maker(len(cells))(cells, encode, None, None, blame, WorkerError)
    return value


def filler(cells: Sequence[Reader], decode: Decode, blame: Blame) -> Callable[[bytes], None]:
    """A function that gives these cells what `values_of` encoded, and lets them be as present as they are."""
    fill: Callable[[bytes], None] = _fill_maker(len(cells))(cells, decode, None, None, blame, WorkerError)
    return fill


@cache
def _fill_maker(count: int) -> Any:
    return _maker(count, "message", "decode", (f"{_each(count, 'value')}, = decode(message)",))


@cache
def _values_maker(count: int) -> Any:
    return _maker(count, "", "encode", (f"return encode(({_each(count, 'value')},))",))


@cache
def _pack_maker(count: int) -> Any:
    whole = (
        f"if {_each(count, 'is_present', ' and ')}:",
        f"    return encode(({_each(count, 'value')},)) + whole",
    )  # fmt: skip
    return _maker(count, "", "encode", (*(whole if count else ()), "return some()"))


@cache
def _unpack_maker(count: int) -> Any:
    whole = (
        f"if message[{-1 - _size(count)}:-1] == whole:",
        f"    {_each(count, 'value')}, = decode(message)",
        f"    {_each(count, 'is_present', ' = ')} = True",
        "    return",
    )
    return _maker(count, "message", "decode", (*(whole if count else ()), "some(message)"))


def _maker(count: int, argument: str, codec: str, body: Sequence[str]) -> Any:
    """Makes the function with this body of the first so many cells and of what it is to call."""
    lines = [f"def make(cells, {codec}, whole, some, blame, WorkerError):"]
    if count:
        lines.append(f"    {', '.join(f'c{n}' for n in range(count))}, = cells")
    lines += [f"    def function({argument}):", "        try:", *(f"            {line}" for line in body)]
    lines += ["        except WorkerError as error:", "            raise blame(error) from error.__cause__"]
    namespace: dict[str, Any] = {}
    exec(compile("\n".join([*lines, "    return function"]), f"<packing of {count} cells>", "exec"), namespace)
    return namespace["make"]


def _each(count: int, attribute: str, between: str = ", ") -> str:
    return between.join(f"c{n}.{attribute}" for n in range(count))


def _all_present(count: int) -> bytes:
    return ((1 << count) - 1).to_bytes(_size(count), "little")


def _size(count: int) -> int:
    return count + 7 >> 3

"""Writes, for one structure, the source of the two functions that encode and decode the messages that have it.

A message is a prefix, a fixed part and a tail. The prefix names the sender and the structure. One `struct.Struct`
writes the fixed part: small arrays, aligned, then numbers and references to blocks by falling size. The tail is what
varies in length: strings, bytes, pickles, arrays of varying shape.

All names in the source are made up here. From a value it takes the keys of dicts only, as literals.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import combinations
from math import prod
from typing import Any

from reactorlib.transport import generated
from reactorlib.transport.arrays import array_of, code_of
from reactorlib.transport.structure import CONTAINERS, LARGE_BYTES, Structure, has_keys, members_of

# Takes a value and the receivers. Returns None if the value has another structure.
Encode = Callable[[Any, Sequence[int]], bytes | None]
Decode = Callable[[Any], Any]

_TYPES = {"?": "bool", "q": "int", "d": "float"}
LONGEST_MESSAGE = LARGE_BYTES + 512  # bytes; a longer one goes into a block
ALIGN = 16  # of small arrays in a message
PAIRWISE = 3  # up to this many objects are compared with each other; for more a set of ids is faster
ROWS = 3  # from this many on, small arrays are rows of one array; two separate ones are as fast (0.2 us each)


class Piece:
    """The lines that one part of a value adds to both functions. Its variable there is `name`."""

    def __init__(self, name: str, guards: list[str], result: str) -> None:
        self.name = name
        self.guards = guards  # the encoder refuses a value for which one holds
        self.result = result  # the expression of the decoded part
        self.members: list[Piece] = []
        self.split = ""  # the line of the encoder that takes a container apart
        self.prepare = ""  # the line of the encoder before it packs
        self.fields: list[tuple[str, str, str]] = []  # code for `struct`, packed value, name when read
        self.tail = ""  # bytes that the encoder appends; `b_` and the name in the decoder
        self.array: tuple[Any, ...] = ()  # code of dtype, shape and name of a small array
        self.twin: Structure | None = None  # of a list, dict or array, as parts of equal structure may be one object

    def all(self) -> Iterator[Piece]:
        """This one and those within it, in order."""
        yield self
        for member in self.members:
            yield from member.all()


class CodecCompiler:
    """Walks one structure, once. `prefix` is what every message of this structure begins with."""

    def __init__(self, structure: Structure, prefix: bytes) -> None:
        self._prefix = prefix
        self._names: dict[str, Any] = {
            "PREFIX": prefix, "LARGE": LARGE_BYTES, "array_of": array_of, "code_of": code_of, "has_keys": has_keys,
            "is_": operator.is_, "join": b"".join,
        }  # fmt: skip
        self._variables = 0
        self._root = self._piece(structure)
        self._refuse_twins(structure)
        self._pieces = list(self._root.all())
        self._lay_out()

    def encoder(self, **names: Any) -> Encode:
        """The function that encodes the structure. It calls `array`, `buffer`, `pickled`, `finish` and `commit`."""
        encode: Encode = self._load(self._encoder_lines(), names)
        return encode

    def decoder(self, **names: Any) -> Decode:
        """The function that decodes the structure. It calls `lend`, `borrow` and `unpickled`."""
        decode: Decode = self._load(self._decoder_lines(), names)
        return decode

    def _load(self, lines: Sequence[str], names: dict[str, Any]) -> Any:
        text = "\n    ".join(lines) + "\n"
        return generated.loaded(f"codec of {len(self._pieces)} parts", text, {**self._names, **names})

    # The parts

    def _piece(self, structure: Structure) -> Piece:
        v = f"v{self._variables}"
        self._variables += 1
        if structure[0] in CONTAINERS:
            return self._container(structure, v)
        if structure[0] == "n":
            kind = self._constant("N", import_module("numpy").dtype(structure[1]).type)
            return _number(v, kind, structure[1], f"{kind}({v})")
        if structure[0] in "avA":
            return self._array(structure, v)
        return _leaf(str(structure), v)

    def _constant(self, letter: str, value: Any) -> str:
        """The name of a constant, the same for the same object."""
        for name, known in self._names.items():
            if known is value:
                return name
        name = f"{letter}{len(self._names)}"
        self._names[name] = value
        return name

    def _container(self, structure: Structure, v: str) -> Piece:
        members = [self._piece(member) for member in members_of(structure)]
        guards = [f"type({v}) is not {CONTAINERS[structure[0]].__name__}", f"len({v}) != {len(members)}"]
        source, results = v, [member.result for member in members]
        if structure[0] == "{":
            keys = self._constant("K", structure[1])
            guards.append(f"not (all(map(is_, {v}, {keys})) or has_keys({v}, {keys}))")
            source = f"{v}.values()"
            pairs = zip(structure[1], results, strict=True)
            result = f"{{{', '.join(f'{key!r}: {part}' for key, part in pairs)}}}"
        else:
            result = f"[{', '.join(results)}]" if structure[0] == "[" else _tuple(results)
        piece = Piece(v, guards, result)
        piece.members = members
        piece.split = f"{', '.join(member.name for member in members)}, = {source}" if members else ""
        piece.twin = None if structure[0] == "(" else structure
        return piece

    def _array(self, structure: Any, v: str) -> Piece:
        kind, code, extent, tensor = structure  # extent: the shape of a small array, else the number of dimensions
        numpy = import_module("numpy")
        self._names["ndarray"] = numpy.ndarray
        d, a = self._constant("D", numpy.dtype(code)), f"a_{v}" if tensor else v
        if tensor:
            torch = import_module("torch")
            self._names["from_numpy"] = torch.from_numpy
            cls = self._constant("Tensor", torch.Tensor)
            guards = [f"not {v}.is_contiguous()", f"vars({v})", f"({a} := array_of({v})) is None"]
        else:
            cls, guards = "ndarray", [] if kind == "a" else [f"not {v}.flags.c_contiguous"]
        guards.insert(0, f"type({v}) is not {cls}")
        guards.append(f"{a}.dtype is not {d} and code_of({a}.dtype) != {code!r}")
        piece = Piece(v, guards, v)
        piece.twin = structure
        if kind == "a":
            piece.array = code, extent, a
            if tensor:
                piece.result = f"from_numpy({v}.copy())"
            return piece
        guards += [f"{a}.ndim != {extent}", f"{a}.nbytes {'<' if kind == 'A' else '>='} LARGE"]
        lengths = [f"s{axis}_{v}" for axis in range(extent)]
        piece.fields = [("Q", f"{a}.shape[{axis}]", name) for axis, name in enumerate(lengths)]
        if kind == "A":
            _refer(piece, f"array({a}, placed)")
            buffer = f"{'borrow' if tensor else 'lend'}(f_{v}, o_{v}, r_{v})"
        else:
            _append(piece, f"{a}.tobytes()", f"{a}.nbytes")
            buffer = f"bytearray(b_{v})" if tensor else f"bytes(b_{v})"
        array = f"ndarray({_tuple(lengths)}, {d}, {buffer})"
        piece.result = f"from_numpy({array})" if tensor else array
        return piece

    def _refuse_twins(self, structure: Structure) -> None:
        """Refuse a value in which one list, dict or array is in two places: a pickle keeps it one."""
        for value in self._root.members if structure[0] == "(" else [self._root]:
            alike: dict[Structure, list[str]] = {}
            pieces = list(value.all())
            for piece in pieces:
                if piece.twin is not None:
                    alike.setdefault(piece.twin, []).append(piece.name)
            last = pieces[-1]  # all variables are assigned there
            for names in alike.values():
                if len(names) > PAIRWISE:
                    last.guards.append(f"len({{{', '.join(f'id({v})' for v in names)}}}) != {len(names)}")
                else:
                    last.guards += [f"{one} is {other}" for one, other in combinations(names, 2)]

    # The two functions

    def _lay_out(self) -> None:
        """Define the structs, the packed values in their order, and what reads the small arrays."""
        at = len(self._prefix)
        codes, self._packed, self._array_reads = f"{at}s", ["PREFIX"], []
        self._joins: list[str] = []
        groups: dict[tuple[str, tuple[int, ...]], list[Piece]] = {}
        for piece in self._pieces:
            if piece.array:
                groups.setdefault(piece.array[:2], []).append(piece)
        for number, ((code, shape), members) in enumerate(groups.items()):
            size = import_module("numpy").dtype(code).itemsize * prod(shape)
            codes += f"{-at % ALIGN}x{size * len(members)}s"
            at += -at % ALIGN
            self._array_reads += self._array_lines(code, shape, [piece.name for piece in members], at, size)
            self._packed.append(self._array_bytes(f"j{number}", shape, members))
            at += size * len(members)
        fields = [one for piece in self._pieces for one in piece.fields]
        fields.sort(key=lambda one: -struct.calcsize(f"@{one[0]}"))
        tail = "".join(code for code, _, _ in fields)
        writer, reader = struct.Struct(f"@{codes}{-at % 8}x{tail}"), struct.Struct(f"@{at + -at % 8}x{tail}")
        self._packed += [packed for _, packed, _ in fields]
        self._read = [name for _, _, name in fields]
        self._size = writer.size
        self._names |= {"pack": writer.pack, "unpack_from": reader.unpack_from}

    def _array_lines(self, code: str, shape: tuple[int, ...], names: list[str], at: int, size: int) -> list[str]:
        d = self._constant("D", import_module("numpy").dtype(code))
        if len(names) >= ROWS and shape and size:
            rows = self._constant("R", operator.itemgetter(*range(len(names))))  # twice as fast as iterating
            return [f"{', '.join(names)} = {rows}(ndarray({(len(names), *shape)}, {d}, data, {at}))"]
        return [f"{v} = ndarray({shape}, {d}, data, {at + i * size})" for i, v in enumerate(names)]

    def _array_bytes(self, joined: str, shape: tuple[int, ...], members: list[Piece]) -> str:
        """The packed value of small arrays. Their guards let pass arrays of this shape in C order only."""
        names = [piece.array[2] for piece in members]
        if len(members) == 1:
            [name], size = names, import_module("numpy").dtype(members[0].array[0]).itemsize
            of_one_axis = f"{name}.strides != {(size,)}", f"len({name}) != {prod(shape)}"  # takes 0.04 us less
            is_one_axis = len(shape) == 1 and shape[0] > 1
            members[0].guards += (
                of_one_axis if is_one_axis else (f"{name}.shape != {shape}", f"not {name}.flags.c_contiguous")
            )
            return f"{name}.tobytes()"
        for piece, name in zip(members, names, strict=True):
            piece.guards.append(f"{name}.shape != {shape}")
        self._joins.append(f"    {joined} = join({_tuple(names)})")
        return joined

    def _encoder_lines(self) -> list[str]:
        lines, guards = [f"def function({self._root.name}, receivers):"], []
        for piece in self._pieces:
            guards += piece.guards
            if piece.split:
                lines += [f"if {' or '.join(guards)}:", "    return None", piece.split]
                guards = []
        if guards:
            lines += [f"if {' or '.join(guards)}:", "    return None"]
        if self._joins:  # an array in another order than C's has no simple buffer
            lines += ["try:", *self._joins, "except TypeError:", "    return None"]
        prepared = [piece.prepare for piece in self._pieces if piece.prepare]
        tails = [piece.tail for piece in self._pieces if piece.tail]
        message = f"pack({', '.join(self._packed)})"
        if tails:
            message = f"join(({message}, {', '.join(tails)}))"
        if not prepared and not tails and self._size <= LONGEST_MESSAGE:
            return [*lines, f"return {message}"]
        tried = [*prepared, f"return finish({message}, placed, receivers)"]
        return [
            *lines, "placed = []", "try:", *(f"    {line}" for line in tried),
            "except BaseException:", "    commit(placed, ())", "    raise",
        ]  # fmt: skip

    def _decoder_lines(self) -> list[str]:
        lines = ["def function(data):"]
        if self._read:
            lines.append(f"{', '.join(self._read)}, = unpack_from(data)")
        lines += [*self._array_reads, f"at = {self._size}"]
        for piece in self._pieces:
            if piece.tail:
                lines += [f"b_{piece.name} = data[at:at + n_{piece.name}]", f"at += n_{piece.name}"]
        return [*lines, f"return {self._root.result}"]


def _leaf(kind: str, v: str) -> Piece:
    """A part that is neither a container nor of NumPy."""
    if kind == "N":
        return Piece(v, [f"{v} is not None"], "None")
    if kind in "?qd":
        return _number(v, _TYPES[kind], kind, v)
    if kind == "o":
        piece = Piece(v, [], f"unpickled(b_{v})")
        piece.prepare = f"t_{v} = pickled({v}, placed)"
        return _append(piece, f"t_{v}", f"len(t_{v})")
    if kind == "s":
        piece = Piece(v, [f"type({v}) is not str"], f'str(b_{v}, "utf-8", "surrogatepass")')
        piece.prepare = f't_{v} = {v}.encode("utf-8", "surrogatepass")'
        return _append(piece, f"t_{v}", f"len(t_{v})")
    if kind == "y":
        return _append(Piece(v, [f"type({v}) is not bytes", f"len({v}) >= LARGE"], f"bytes(b_{v})"), v, f"len({v})")
    piece = Piece(v, [f"type({v}) is not bytes", f"len({v}) < LARGE"], f"bytes(lend(f_{v}, o_{v}, r_{v})[:n_{v}])")
    piece.fields.append(("Q", f"len({v})", f"n_{v}"))
    return _refer(piece, f"buffer({v}, placed)")


def _number(v: str, cls: str, code: str, result: str) -> Piece:
    piece = Piece(v, [f"type({v}) is not {cls}"], result)
    piece.fields = [(code, v, v)]
    return piece


def _append(piece: Piece, tail: str, length: str) -> Piece:
    """Bytes that are appended to the message: `b_...` in the decoder."""
    piece.tail = tail
    piece.fields.append(("Q", length, f"n_{piece.name}"))
    return piece


def _refer(piece: Piece, call: str) -> Piece:
    """A block beside the message: the three parts of a Reference."""
    reference = [f"{letter}_{piece.name}" for letter in "for"]
    piece.prepare = f"{', '.join(reference)} = {call}"
    piece.fields += [("Q", name, name) for name in reference]
    return piece


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' if parts else ''})"

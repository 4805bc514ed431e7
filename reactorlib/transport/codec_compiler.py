"""Writes, for one structure, the source of the two functions that encode and decode the values that have it.

A message is a prefix (which names the sender and the structure), a fixed part that one `struct.Struct` writes
and reads, and a tail of what varies in length. In the fixed part small arrays come first, aligned, then
references to blocks, numbers and flags by falling size.

Every name in the source is made up here: all that it takes from a value is the keys of dicts, as literals.
"""

from __future__ import annotations

import operator
import pickle
import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from math import prod
from typing import Any

from reactorlib.transport.copying import Placing
from reactorlib.transport.lending import Lending
from reactorlib.transport.structure import (
    BIG,
    CONTAINERS,
    SHORT,
    Structure,
    array_of,
    dtype_of,
    members_from,
    same_dtype,
    same_keys,
)

Encode = Callable[[Any, Sequence[int]], bytes | None]  # of a value and the receivers; None: it has another structure
Decode = Callable[[Any], Any]

OUTERMOST = "v0"  # the variable of the value
ALIGN = 16  # of small arrays in a message
TYPES = {"?": "bool", "q": "int", "d": "float", "s": "str", "y": "bytes", "Y": "bytes"}


class CodecCompiler:
    """Walks one structure, once. `prefix` is what every message of this structure begins with."""

    def __init__(self, structure: Structure, prefix: bytes) -> None:
        self._prefix = prefix
        self._names: dict[str, Any] = {
            "PREFIX": prefix, "BIG": BIG, "array_of": array_of, "same_dtype": same_dtype, "same_keys": same_keys,
            "tensor_over": tensor_over, "new_tuple": tuple.__new__, "is_": operator.is_,
        }  # fmt: skip
        # The encoder refuses by the first guards, takes containers apart, refuses by the next guards, ...
        self._guards: list[list[str]] = [[]]
        self._splits: list[str] = []
        self._preparations: list[str] = []  # what large and varying parts need before they are packed
        self._small: dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]] = {}  # (variable, packed value)
        self._fields: list[tuple[str, str, str]] = []  # (code for struct, packed value, variable when unpacked)
        self._tails: list[str] = []
        self._reads: list[str] = []  # lines of the decoder
        self._variables = 0
        self._mutable: list[str] = []  # variables whose objects must be different ones
        self._alike: dict[Structure, list[str]] = {}  # such variables of one value: arrays of one structure
        self._result = self._walk(structure, self._variable())
        self._refuse_twins(self._mutable)

    def encoder(self, placing: Placing) -> Encode:
        """The function that encodes values of the structure."""
        encode: Encode = self._load(self._encoder_source(), "encode", {"placing": placing})
        return encode

    def decoder(self, lender: Lending, unpickled: Decode) -> Decode:
        """The function that decodes messages of the structure."""
        names = {"lend": lender.lend, "borrow": lender.borrow, "unpickled": unpickled}
        decode: Decode = self._load(self._decoder_source(), "decode", names)
        return decode

    def _load(self, text: str, name: str, names: dict[str, Any]) -> Any:
        namespace = {**self._names, **names}
        exec(compile(text, f"<{name} {len(self._prefix)}>", "exec"), namespace)
        return namespace[name]

    # The structure, part by part. Each method returns the expression of the decoded part.

    def _walk(self, structure: Structure, v: str) -> str:
        if isinstance(structure, str):
            return self._plain(structure, v)
        if structure[0] in CONTAINERS:
            return self._container(structure, v)
        if structure[0] == "n":
            return self._scalar(structure[1], v)
        return self._array(structure[0], structure[1], structure[2], v)

    def _variable(self) -> str:
        self._variables += 1
        return f"v{self._variables - 1}"

    def _name(self, letter: str, value: Any) -> str:
        """A name for a constant: the same for the same object."""
        for name, known in self._names.items():
            if known is value:
                return name
        name = f"{letter}{len(self._names)}"
        self._names[name] = value
        return name

    def _refuse(self, condition: str) -> None:
        self._guards[-1].append(condition)

    def _refuse_twins(self, variables: Sequence[str]) -> None:
        if len(variables) > 1:
            self._refuse(f"len({{{', '.join(f'id({v})' for v in variables)}}}) != {len(variables)}")

    def _plain(self, kind: str, v: str) -> str:
        if kind == "N":
            self._refuse(f"{v} is not None")
            return "None"
        if kind == "o":
            self._mutable.append(v)
            self._preparations.append(f"t_{v} = placing.pickled({v}, placed)")
            return self._tail(v, f"t_{v}", f"len(t_{v})", "unpickled({})")
        self._refuse(f"type({v}) is not {TYPES[kind]}")
        if kind in "?qd":
            self._fields.append((kind, v, v))
            return v
        if kind == "s":
            self._preparations.append(f't_{v} = {v}.encode("utf-8", "surrogatepass")')
            return self._tail(v, f"t_{v}", f"len(t_{v})", 'str({}, "utf-8", "surrogatepass")')
        if kind == "y":
            self._refuse(f"len({v}) >= BIG")
            return self._tail(v, v, f"len({v})", "bytes({})")
        self._refuse(f"len({v}) < BIG")
        self._block(v, f"placing.buffer({v}, placed)")
        self._fields.append(("Q", f"len({v})", f"n_{v}"))
        return f'bytes(lend(f_{v}, o_{v}, r_{v}).cast("B")[:n_{v}])'

    def _scalar(self, char: str, v: str) -> str:
        kind = self._name("N", dtype_of(char).type)
        self._refuse(f"type({v}) is not {kind}")
        self._fields.append((char, v, v))
        return f"{kind}({v})"

    def _container(self, structure: tuple[Any, ...], v: str) -> str:
        kind, first = structure[0], members_from(structure)
        members = structure[first:]
        cls = self._name("C", pickle.loads(structure[1])) if kind == "C" else CONTAINERS[kind].__name__
        if kind in "[{":
            self._mutable.append(v)
        self._refuse(f"type({v}) is not {cls}")
        self._refuse(f"len({v}) != {len(members)}")
        source = v
        if kind == "{":
            keys = self._name("K", structure[1])
            self._refuse(f"not (all(map(is_, {v}, {keys})) or same_keys({v}, {keys}))")
            source = f"{v}.values()"
        variables = [self._variable() for _ in members]
        if variables:
            self._splits.append(f"{', '.join(variables)}, = {source}")
            self._guards.append([])
        inner = []
        for member, variable in zip(members, variables, strict=True):
            inner.append(self._walk(member, variable))
            if v == OUTERMOST:
                for alike in self._alike.values():
                    self._refuse_twins(alike)
                self._alike.clear()
        if kind == "{":
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(structure[1], inner, strict=True)) + "}"
        if kind == "[":
            return f"[{', '.join(inner)}]"
        return f"new_tuple({cls}, {_tuple(inner)})" if kind == "C" else _tuple(inner)

    def _array(self, kind: str, code: str | bytes, shape: Any, v: str) -> str:
        dtype = dtype_of(code)
        d = self._name("D", dtype)
        self._alike.setdefault((kind, code, shape), []).append(v)
        a = v
        if kind in "tuT":
            self._refuse(f"type({v}) is not {self._name('Tensor', import_module('torch').Tensor)}")
            a = f"a_{v}"
            self._refuse(f"not {v}.is_contiguous()")
            self._refuse(f"vars({v})")
            self._refuse(f"({a} := array_of({v})) is None")
        else:
            self._refuse(f"type({v}) is not {self._name('ndarray', import_module('numpy').ndarray)}")
            if (shape if isinstance(shape, int) else len(shape)) > 1:
                self._refuse(f"{v}.flags.fnc")
        self._refuse(f"{a}.dtype is not {d} and not same_dtype({a}.dtype, {d})")
        if kind in "at":
            self._refuse(f"{a}.shape != {shape}")
            self._small.setdefault((d, shape), []).append((v, f"{a}.tobytes()"))
            return v if kind == "a" else self._tensor(dtype, f"bytearray({v}.tobytes())", str(shape))
        self._refuse(f"{a}.ndim != {shape}")
        self._refuse(f"{a}.nbytes {'<' if kind in 'AT' else '>='} BIG")
        sizes = [f"s{axis}_{v}" for axis in range(shape)]
        if sizes:
            self._preparations.append(f"{', '.join(sizes)}, = {a}.shape")
        self._fields += [("Q", size, size) for size in sizes]
        if kind == "A":
            self._block(v, f"placing.array({a}, placed)")
            return self._ndarray(d, _tuple(sizes), f"lend(f_{v}, o_{v}, r_{v})")
        if kind == "T":
            self._block(v, f"placing.tensor({a}, placed)")
            return self._tensor(dtype, f"borrow(f_{v}, o_{v}, r_{v})", _tuple(sizes))
        if kind == "u":
            return self._tail(v, f"{a}.tobytes()", f"{a}.nbytes", self._tensor(dtype, "bytearray({})", _tuple(sizes)))
        return self._tail(v, f"{a}.tobytes()", f"{a}.nbytes", self._ndarray(d, _tuple(sizes), "bytes({})"))

    def _ndarray(self, d: str, shape: str, buffer: str, offset: int | None = None) -> str:
        ndarray = self._name("ndarray", import_module("numpy").ndarray)
        return f"{ndarray}({shape}, {d}, {buffer}{'' if offset is None else f', {offset}'})"

    def _tensor(self, dtype: Any, buffer: str, shape: str) -> str:
        numpy, torch = import_module("numpy"), import_module("torch")
        name = self._name("T", torch.from_numpy(numpy.empty(0, dtype)).dtype)
        return f"tensor_over({name}, {buffer}, {shape})"

    def _block(self, v: str, call: str) -> None:
        reference = [f"f_{v}", f"o_{v}", f"r_{v}"]
        self._preparations.append(f"{', '.join(reference)} = {call}")
        self._fields += [("Q", name, name) for name in reference]

    def _tail(self, v: str, packed: str, length: str, decoded: str) -> str:
        self._tails.append(packed)
        self._fields.append(("Q", length, f"n_{v}"))
        self._reads += [f"{v} = " + decoded.format(f"data[at:at + n_{v}]"), f"at += n_{v}"]
        return v

    # The two functions

    @cached_property
    def _layout(self) -> tuple[list[str], list[str], int]:
        """Packed values, lines that read them, and the size of prefix and fixed part; defines the structs."""
        at = len(self._prefix)
        codes, values, reads = f"{at}s", ["PREFIX"], []
        for (d, shape), members in self._small.items():
            codes += f"{-at % ALIGN}x"
            at += -at % ALIGN
            nbytes = self._names[d].itemsize * prod(shape)
            reads += self._read_small(d, shape, [v for v, _ in members], at, nbytes)
            codes += f"{nbytes}s" * len(members)
            values += [packed for _, packed in members]
            at += nbytes * len(members)
        fields = sorted(self._fields, key=lambda field: -struct.calcsize(f"@{field[0]}"))
        pad = -at % 8
        codes += f"{pad}x" + "".join(code for code, _, _ in fields)
        writer = struct.Struct(f"@{codes}")
        reader = struct.Struct(f"@{at + pad}x" + "".join(code for code, _, _ in fields))
        self._names |= {"pack": writer.pack, "unpack_from": reader.unpack_from}
        if fields:
            reads.insert(0, f"{', '.join(name for _, _, name in fields)}, = unpack_from(data)")
        return values + [packed for _, packed, _ in fields], reads, writer.size

    def _read_small(self, d: str, shape: tuple[int, ...], variables: list[str], at: int, nbytes: int) -> list[str]:
        if len(variables) > 2 and shape and nbytes:  # the rows of one array cost a third of as many arrays
            count = len(variables)
            rows = self._name("R", operator.itemgetter(*range(count)))  # half of what iterating over it takes
            return [f"{', '.join(variables)} = {rows}({self._ndarray(d, str((count, *shape)), 'data', at)})"]
        return [f"{v} = {self._ndarray(d, str(shape), 'data', at + i * nbytes)}" for i, v in enumerate(variables)]

    def _encoder_source(self) -> str:
        values, _, size = self._layout
        lines = ["def encode(v0, receivers):"]
        for number, guards in enumerate(self._guards):
            if guards:
                lines += [f"    if ({' or '.join(guards)}):", "        return None"]
            lines += [f"    {split}" for split in self._splits[number : number + 1]]
        message = f"pack({', '.join(values)})"
        if self._tails:
            message = f'b"".join(({message}, {", ".join(self._tails)}))'
        if not self._preparations and not self._tails and size <= SHORT:
            lines.append(f"    return {message}")
        else:
            lines += [
                "    placed = []",
                "    try:",
                *(f"        {line}" for line in self._preparations),
                f"        return placing.send_off({message}, placed, receivers)",
                "    except BaseException:",
                "        placing.commit(placed, ())",
                "        raise",
            ]
        return "\n".join(lines) + "\n"

    def _decoder_source(self) -> str:
        _, reads, size = self._layout
        at = [f"at = {size}"] if self._tails else []
        lines = ["def decode(data):", *reads, *at, *self._reads, f"return {self._result}"]
        return "\n    ".join(lines) + "\n"


def tensor_over(dtype: Any, buffer: Any, shape: tuple[int, ...]) -> Any:
    """A torch tensor over a writable buffer that is large enough; it keeps the buffer alive."""
    torch = import_module("torch")
    count = prod(shape)
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(buffer, dtype=dtype, count=count).reshape(shape)


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' if parts else ''})"

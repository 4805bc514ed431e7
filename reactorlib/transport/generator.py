"""Writes, for one structure, the source of the two functions that encode and decode the values that have it.

A message is a prefix (which names the sender and the structure), a fixed part that one `struct.Struct` writes
and reads, and a tail of what varies in length. In the fixed part small arrays come first, aligned, then
references to blocks, numbers and flags by falling size.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from importlib import import_module
from typing import Any

from reactorlib.transport.structure import BIG, SHORT, Structure, array_of, members_from, same_dtype

ALIGN = 16

Encode = Callable[[Any, Any], bytes | None]
Decode = Callable[[Any], Any]


class Generator:
    """Walks one structure. `prefix` is what every message of this structure begins with."""

    def __init__(self, structure: Structure, prefix: bytes) -> None:
        self.prefix = prefix
        self.names: dict[str, Any] = {"same_dtype": same_dtype, "array_of": array_of, "BIG": BIG}
        self._guards: list[list[str]] = [[]]  # conditions that refuse a value, between the lines that take it apart
        self._splits: list[str] = []
        self._parts: list[str] = []  # lines that place or pickle
        self._small: dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]] = {}  # (variable, bytes of it)
        self._fixed: list[tuple[str, str, str]] = []  # (code, value packed, name when unpacked)
        self._tails: list[str] = []
        self._reads: list[str] = []
        self._places = False
        self._count = 0
        self._result = self._walk(structure, self._variable())

    # The structure, leaf by leaf: each returns the expression of the decoded value

    def _variable(self) -> str:
        self._count += 1
        return f"v{self._count - 1}"

    def _name(self, prefix: str, value: Any) -> str:
        for name, known in self.names.items():
            if known is value and name.startswith(prefix):
                return name
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def _refuse(self, condition: str) -> None:
        self._guards[-1].append(condition)

    def _walk(self, structure: Structure, v: str) -> str:
        if structure[0] in "([{C":
            return self._container(structure, v)  # type: ignore[arg-type]
        if isinstance(structure, str):
            return self._plain(structure, v)
        if structure[0] == "n":
            return self._scalar(structure[1], v)
        return self._array(structure[0], structure[1], structure[2], v)

    def _plain(self, kind: str, v: str) -> str:
        if kind == "N":
            self._refuse(f"{v} is not None")
            return "None"
        if kind == "o":
            self._parts.append(f"t_{v} = pickled({v}, placed)")
            self._places = True
            return self._tail(v, f"t_{v}", "unpickled({})")
        self._refuse(f"type({v}) is not {PLAIN[kind]}")
        if kind in "?qd":
            self._fixed.append((kind, v, v))
            return v
        if kind == "s":
            self._parts.append(f't_{v} = {v}.encode("utf-8", "surrogatepass")')
            return self._tail(v, f"t_{v}", 'str({}, "utf-8", "surrogatepass")')
        if kind == "y":
            self._refuse(f"len({v}) >= BIG")
            return self._tail(v, v, "bytes({})")
        self._refuse(f"len({v}) < BIG")
        self._block(v, f"place_bytes({v}, placed)")
        self._fixed.append(("Q", f"len({v})", f"n_{v}"))
        return f'bytes(lend(f_{v}, o_{v}, r_{v}).cast("B")[:n_{v}])'

    def _scalar(self, char: str, v: str) -> str:
        numpy = import_module("numpy")
        kind = self._name("N", numpy.dtype(char).type)
        self._refuse(f"type({v}) is not {kind}")
        self._fixed.append((char, v, v))
        return f"{kind}({v})"

    def _array(self, kind: str, char: str, shape: Any, v: str) -> str:
        numpy = import_module("numpy")
        dtype = numpy.dtype(char)
        d = self._name("D", dtype)
        self.names["ndarray"] = numpy.ndarray
        tensor = kind in "tuT"
        array = v
        if tensor:
            torch = import_module("torch")
            self.names["Tensor"] = torch.Tensor
            self._refuse(f"type({v}) is not Tensor")
            array = f"a_{v}"
            self._refuse(f"({array} := array_of({v})) is None")
        else:
            self._refuse(f"type({v}) is not ndarray")
        self._refuse(f"{array}.dtype is not {d} and not same_dtype({array}.dtype, {d})")
        if kind in "at":
            return self._small_array(array, dtype, d, shape, v, tensor)
        self._refuse(f"{array}.ndim != {shape}")
        self._refuse(f"{array}.nbytes {'<' if kind in 'AT' else '>='} BIG")
        sizes = [f"s{axis}_{v}" for axis in range(shape)]
        self._fixed += [("Q", f"{array}.shape[{axis}]", size) for axis, size in enumerate(sizes)]
        decoded_shape = f"({', '.join(sizes)}{',' if shape == 1 else ''})"
        if kind in "AT":
            self._block(v, f"place_array({array}, placed)")
            if tensor:
                self.names["tensor_over"] = tensor_over
                return f"tensor_over({self._tensor_dtype(dtype)}, borrow(f_{v}, o_{v}, r_{v}), {decoded_shape})"
            return f"ndarray({decoded_shape}, {d}, lend(f_{v}, o_{v}, r_{v}))"
        if tensor:
            self.names["tensor_over"] = tensor_over
            form = f"tensor_over({self._tensor_dtype(dtype)}, bytearray({{}}), {decoded_shape})"
        else:
            form = f"ndarray({decoded_shape}, {d}, bytes({{}}))"
        return self._tail(v, f"{array}.tobytes()", form)

    def _small_array(self, array: str, dtype: Any, d: str, shape: tuple[int, ...], v: str, tensor: bool) -> str:
        if len(shape) == 1:
            self._refuse(f"{array}.ndim != 1 or len({array}) != {shape[0]}")
        else:
            self._refuse(f"{array}.shape != {shape}")
        self._small.setdefault((d, shape), []).append((v, f"{array}.tobytes()"))
        if not tensor:
            return v
        self.names["tensor_over"] = tensor_over
        return f"tensor_over({self._tensor_dtype(dtype)}, bytearray({v}), {shape})"

    def _tensor_dtype(self, dtype: Any) -> str:
        numpy, torch = import_module("numpy"), import_module("torch")
        return self._name("T", torch.from_numpy(numpy.empty(0, dtype)).dtype)

    def _block(self, v: str, call: str) -> None:
        self._places = True
        reference = [f"f_{v}", f"o_{v}", f"r_{v}"]
        self._parts.append(f"{', '.join(reference)} = {call}")
        self._fixed += [("Q", name, name) for name in reference]

    def _tail(self, v: str, value: str, form: str) -> str:
        self._tails.append(value)
        self._fixed.append(
            ("Q", f"len({value})" if value.isidentifier() else f"{value.partition('.')[0]}.nbytes", f"n_{v}")
        )
        self._reads.append(f"{v} = " + form.format(f"data[at:at + n_{v}]"))
        self._reads.append(f"at += n_{v}")
        return v

    def _container(self, structure: tuple[Any, ...], v: str) -> str:
        kind, first = structure[0], members_from(structure)
        members = structure[first:]
        variables = [self._variable() for _ in members]
        cls = {"(": "tuple", "[": "list", "{": "dict"}.get(kind)
        if kind == "C":
            cls = self._name("C", pickle.loads(structure[1]))
        self._refuse(f"type({v}) is not {cls}")
        self._refuse(f"len({v}) != {len(members)}")
        source = v
        if kind == "{":
            keys = self._name("K", structure[1])
            self._refuse(f"not same_keys({v}, {keys})")
            self.names["same_keys"] = same_keys
            source = f"{v}.values()"
        if variables:
            self._splits.append(f"{', '.join(variables)}, = {source}")
            self._guards.append([])
        inner = [self._walk(member, variable) for member, variable in zip(members, variables, strict=True)]
        if kind == "{":
            return "{" + ", ".join(f"{key!r}: {value}" for key, value in zip(structure[1], inner, strict=True)) + "}"
        if kind == "[":
            return f"[{', '.join(inner)}]"
        text = f"({', '.join(inner)}{',' if inner else ''})"
        return f"new_tuple({cls}, {text})" if kind == "C" else text

    # The two functions

    def source(self) -> tuple[str, str]:
        """The source of `encode(v0, receivers)`, which returns None for any other value, and of `decode(data)`."""
        codes, values, names, reads, at = f"@{len(self.prefix)}s", [], [], [], len(self.prefix)
        skip = ""
        for (d, shape), members in self._small.items():
            nbytes = self.names[d].itemsize
            for size in shape:
                nbytes *= size
            reads += self._read_small(d, shape, members, at, nbytes)
            for _, text in members:
                codes += f"{nbytes}s"
                values.append(text)
            at += nbytes * len(members)
            codes += f"{-at % ALIGN}x"
            at += -at % ALIGN
        for code, value, name in sorted(self._fixed, key=lambda item: -struct.calcsize("@" + item[0])):
            skip += code
            values.append(value)
            names.append(name)
        writer, reader = struct.Struct(codes + skip), struct.Struct(f"@{at}x{skip}")
        self.names |= {"pack": writer.pack, "unpack_from": reader.unpack_from, "PREFIX": self.prefix,
                       "new_tuple": tuple.__new__}  # fmt: skip
        if names:
            reads.insert(0, f"{', '.join(names)}, = unpack_from(data)")
        if self._tails:
            reads.append(f"at = {writer.size}")
        body = "".join(f"    {line}\n" for line in (*reads, *self._reads, f"return {self._result}"))
        return self._encoder(values, writer.size), f"def decode(data):\n{body}"

    def _read_small(
        self, d: str, shape: tuple[int, ...], members: list[tuple[str, str]], at: int, nbytes: int
    ) -> list[str]:
        self.names["ndarray"] = import_module("numpy").ndarray
        if len(members) > 2 and shape and nbytes:  # the rows of one array cost less than as many arrays
            variables = ", ".join(v for v, _ in members)
            return [f"{variables} = ndarray({(len(members), *shape)}, {d}, data, {at})"]
        return [f"{v} = ndarray({shape}, {d}, data, {at + i * nbytes})" for i, (v, _) in enumerate(members)]

    def _encoder(self, values: list[str], size: int) -> str:
        lines = ["def encode(v0, receivers):"]
        for number, guards in enumerate(self._guards):
            if guards:
                lines += ["    if (" + " or ".join(guards) + "):", "        return None"]
            if number < len(self._splits):
                lines.append(f"    {self._splits[number]}")
        packed = f"pack({', '.join(['PREFIX', *values])})"
        message = f'b"".join(({", ".join([packed, *self._tails])}))' if self._tails else packed
        if not self._places and not self._tails and size <= SHORT:
            lines += [*(f"    {part}" for part in self._parts), f"    return {message}"]
        else:
            lines += [
                "    placed = []",
                "    try:",
                *(f"        {part}" for part in self._parts),
                f"        return send_off({message}, placed, receivers)",
                "    except BaseException:",
                "        drop(placed)",
                "        raise",
            ]
        return "\n".join(lines) + "\n"


PLAIN = {"?": "bool", "q": "int", "d": "float", "s": "str", "y": "bytes", "Y": "bytes"}


def same_keys(mapping: dict[Any, Any], keys: tuple[str, ...]) -> bool:
    """Whether a dict has exactly these keys in this order, each of type str and of no subclass."""
    return tuple(mapping) == keys and all(type(key) is str for key in mapping)


def tensor_over(dtype: Any, buffer: Any, shape: tuple[int, ...]) -> Any:
    """A torch tensor over a writable buffer at least as large; it keeps the buffer alive."""
    torch = import_module("torch")
    count = 1
    for size in shape:
        count *= size
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(buffer, dtype=dtype, count=count).reshape(shape)

"""The canonical form of a value: bytes that equal values share, whatever process made them and however they were built.

- A number or a text is its representation.
- A container is its parts, in sorted order in sets and dicts.
- An array or a tensor is dtype, shape and content.
- Any other object is the call that its pickle would make, with the arguments.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Generator, Iterable, Iterator
from functools import cache
from io import BytesIO
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pickle import Pickler

DEEPEST = 20_000  # values nested in each other: a value that reduces to a new one without end stops here
SHORT = 64  # bytes of a part of an object; a longer form is replaced by its digest

_PLAIN = (int, float, str, bytes, type(None))
_NEW_OBJECT = vars(copyreg)["__newobj__"]  # the call in the pickle of an object, unless its class has its own


class _CircularError(Exception):
    """A value is a part of itself."""


def canonical(value: Any) -> bytes:
    """Bytes that equal values share, whatever process made them."""
    try:
        return _plain(value) or _form(value)
    except _CircularError:
        stream = BytesIO()
        _pickler()(stream, 5).dump(value)
        return stream.getvalue()


def _plain(value: Any) -> bytes | None:
    """The form of a number or a text."""
    if not isinstance(value, _PLAIN):
        return None
    try:
        return repr(value).encode()
    except ValueError:
        if isinstance(value, int):  # of more digits than Python writes
            return hex(value).encode()
        raise


def _form(value: Any) -> bytes:
    """The form of any value that is no part of itself."""
    return _Canonical().form(value)


# Gives the parts whose forms it needs, one by one, and takes the form of each; its result is the form of the whole.
Parts = Generator[Any, bytes, bytes]


class _Canonical:
    """Builds the form of one value. Values under way wait on a stack of its own, so nesting takes no frames."""

    def __init__(self) -> None:
        self._open: set[int] = set()  # values of which parts are being looked at
        self._objects = 0  # how many of them are objects
        self._known: dict[int, tuple[Any, bytes]] = {}  # parts of the outermost object, each with its form

    def form(self, value: Any) -> bytes:
        stack = [self._value(value)]
        form: Any = None
        while stack:
            try:
                part = stack[-1].send(form)
            except StopIteration as end:
                form = end.value
                stack.pop()
            else:
                if len(stack) > DEEPEST:
                    raise RecursionError(f"it is nested in more than {DEEPEST} values")
                stack.append(self._value(part))
                form = None
        return form  # type: ignore[no-any-return]

    def _value(self, value: Any) -> Parts:
        form = _plain(value)
        if form is not None:
            return form
        identity = id(value)
        if identity in self._known:
            return self._known[identity][1]
        if identity in self._open:
            raise _CircularError
        is_object = not (isinstance(value, tuple | list | dict | set | frozenset) or _holds_objects(value))
        if is_object and (form := _whole(value)) is not None:
            return self._shortened(form)
        self._open.add(identity)
        self._objects += is_object
        form = yield from self._object(value) if is_object else self._container(value)
        self._open.remove(identity)
        short = self._shortened(form)
        if short is not form:
            self._known[identity] = value, short
        self._objects -= is_object
        if not self._objects:
            self._known.clear()
        return short

    def _shortened(self, form: bytes) -> bytes:
        """A part in the form of an object: short, however often a part is shared."""
        if not self._objects or len(form) <= SHORT:
            return form
        from hashlib import blake2b

        return b"#" + blake2b(form, digest_size=16).hexdigest().encode()

    def _container(self, value: Any) -> Parts:
        """The form of a value that consists of its parts."""
        if isinstance(value, tuple):
            return (yield from self._sequence(value))
        if isinstance(value, list):
            return b"list" + (yield from self._sequence(value))
        if isinstance(value, dict):
            return (yield from self._mapping(value))
        if isinstance(value, set | frozenset):
            return b"set(" + b",".join(sorted((yield from self._forms(value)))) + b")"
        return _shape(value.dtype, value.shape) + (yield value.tolist())

    def _forms(self, parts: Iterable[Any]) -> Generator[Any, bytes, list[bytes]]:
        forms: list[bytes] = []
        for part in parts:
            forms.append(_plain(part) or (yield part))  # noqa: PERF401  # no comprehension can yield
        return forms

    def _sequence(self, parts: Iterable[Any]) -> Parts:
        return b"(" + b",".join((yield from self._forms(parts))) + b")"

    def _mapping(self, value: dict[Any, Any]) -> Parts:
        keys = yield from self._forms(value)
        items = yield from self._forms(value.values())
        pairs = sorted(zip(keys, items, strict=True))
        return b"{" + b",".join([key + b":" + item for key, item in pairs]) + b"}"

    def _object(self, value: Any) -> Parts:
        """Any other value is what its pickle would call, and with what: attributes in order of their names."""
        reducer = copyreg.dispatch_table.get(type(value))
        reduced = value.__reduce_ex__(4) if reducer is None else reducer(value)  # 5 may take arrays apart into buffers
        if isinstance(reduced, str):
            return _named(value)
        padded: list[Any] = [*reduced, *[None] * (5 - len(reduced))]
        make, arguments, state, items, pairs, *setter = padded
        if make is _NEW_OBJECT:  # as nearly always
            made = _class(arguments[0]) + (yield from self._sequence(arguments[1:]))
        else:
            made = yield from self._sequence((make, *arguments))
        attributes = yield from self._mapping(state) if type(state) is dict else self._sequence([state])
        return made + attributes + (yield from self._sequence([items and list(items), pairs and list(pairs), *setter]))


def _whole(value: Any) -> bytes | None:
    """The form of a value without parts that is neither a number nor a text."""
    if isinstance(value, type):
        return _class(value)
    if isinstance(value, FunctionType):
        return _named(value)
    if _is_tensor(value):
        return _tensor(value)
    return _array(value) if _is_array(value) else None


def _class(value: type) -> bytes:
    return f"class {value.__module__}.{value.__qualname__}".encode()


def _named(value: Any) -> bytes:
    """The form of a function or another object that has only a name. Raises if no module has it."""
    import pickle

    return pickle.dumps(value, 5)


# Arrays and tensors


def _is_array(value: Any) -> bool:
    return hasattr(value, "tobytes") and hasattr(value, "dtype") and not isinstance(value, type)


def _is_tensor(value: Any) -> bool:
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def _holds_objects(value: Any) -> bool:
    return _is_array(value) and getattr(value.dtype, "hasobject", False) is True


def _array(array: Any) -> bytes:
    return _shape(array.dtype, getattr(array, "shape", ())) + b"".join(_contents(array))


def _contents(array: Any) -> Iterator[bytes]:
    """The bytes of an array, but for those between fields and numbers, which nobody has written."""
    dtype = array.dtype
    if dtype.names is not None:
        for name in dtype.names:
            yield from _contents(array[name])
    elif dtype.char in "gG":  # of 16 bytes some machines use 10
        import numpy as np

        number = np.finfo(dtype)
        octets = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, number.dtype.itemsize)
        yield octets[:, : 10 if number.nmant == 63 else None].tobytes()
    else:
        yield array.tobytes()


def _shape(dtype: Any, shape: Any) -> bytes:
    return f"{dtype} {shape} ".encode()


def _tensor(tensor: Any) -> bytes:
    torch = sys.modules["torch"]
    plain = tensor.detach()
    if plain.layout is not torch.strided:
        sparse = plain.to_sparse().coalesce()  # a dense one might not fit into memory
        return _shape(plain.layout, tuple(plain.shape)) + _tensor(sparse.indices()) + _tensor(sparse.values())
    plain = plain.cpu().resolve_conj().resolve_neg()
    try:
        return _array(plain.numpy())
    except TypeError:  # NumPy has no such numbers: bfloat16
        octets = plain.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)
        return _shape(plain.dtype, tuple(plain.shape)) + bytes(octets.numpy().tobytes())


# Values that are parts of themselves


@cache
def _pickler() -> type[Pickler]:
    """A pickler to which equal texts are one, as are equal sets and arrays that hold nothing circular."""
    from pickle import Pickler

    class Canonical(Pickler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self._texts: dict[tuple[type, Any], Any] = {}

        def persistent_id(self, value: Any) -> Any:
            kind = type(value)
            if kind is str or kind is bytes:
                return self._texts.setdefault((kind, value), value)
            if isinstance(value, set | frozenset) or _is_tensor(value) or _is_array(value):
                try:
                    return _form(value)
                except _CircularError:
                    return None
            return None

    return Canonical

"""The canonical form of a value: bytes that equal values share, whatever process made them and however they were built.

- A number or a text is its representation.
- A container is its parts, in sorted order in sets and dicts.
- An array or a tensor is dtype, shape and content.
- Any other object is the call that its pickle would make, with the arguments.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from types import FunctionType
from typing import Any

LONGEST_FORM = 64  # bytes of the form of an object; a longer one is replaced by its digest

_PLAIN = (int, float, str, bytes, type(None))
_NEW_OBJECT = vars(copyreg)["__newobj__"]  # the call in the pickle of an object, unless its class has its own


def canonical(value: Any) -> bytes:
    """Bytes that equal values share. Raises RecursionError for a value that nests too deep."""
    return _Parts().form(value)


class _Parts:
    """Makes the form of a value from those of its parts. Where a value is a part of itself, its depth stands for it."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}  # values that have a form; held, so that none takes their id
        self._open: dict[int, int] = {}  # the depth of each value whose parts are being looked at
        self._is_circular = False

    def form(self, value: Any) -> bytes:
        if isinstance(value, _PLAIN):
            return repr(value).encode()
        identity = id(value)
        if identity in self._known:
            return self._known[identity][1]
        if identity in self._open:
            self._is_circular = True
            return b"^%d" % self._open[identity]
        whole = _whole(value)
        if whole is not None:
            return whole
        self._open[identity] = len(self._open)
        form = self._container(value)
        if form is None or self._is_circular:  # countless ways may lead to a container
            form = form or self._object(value)
            if len(form) > LONGEST_FORM:
                form = b"#" + blake2b(form, digest_size=16).hexdigest().encode()
            self._known[identity] = value, form
        del self._open[identity]
        return form

    def _container(self, value: Any) -> bytes | None:
        """The form of a value that consists of its parts."""
        if isinstance(value, tuple):
            return self._sequence(value)
        if isinstance(value, list):
            return b"list" + self._sequence(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, set | frozenset):
            return b"set(" + b",".join(sorted(map(self.form, value))) + b")"
        if _is_array(value):
            return _shape(value.dtype, value.shape) + self.form(value.tolist())
        return None

    def _sequence(self, parts: Iterable[Any]) -> bytes:
        return b"(" + b",".join(map(self.form, parts)) + b")"

    def _mapping(self, value: dict[Any, Any]) -> bytes:
        pairs = sorted(zip(map(self.form, value), map(self.form, value.values()), strict=True))
        return b"{" + b",".join([key + b":" + item for key, item in pairs]) + b"}"

    def _object(self, value: Any) -> bytes:
        """Any other value is what its pickle would call, and with what: attributes in order of their names."""
        reducer = copyreg.dispatch_table.get(type(value))
        reduced = value.__reduce_ex__(4) if reducer is None else reducer(value)  # 5 may take arrays apart into buffers
        if isinstance(reduced, str):
            return _named(value)
        padded: list[Any] = [*reduced, *[None] * (5 - len(reduced))]
        make, arguments, state, items, pairs, *setter = padded
        if make is _NEW_OBJECT:  # as nearly always
            made = self.form(arguments[0]) + self._sequence(arguments[1:])
        else:
            made = self._sequence((make, *arguments))
        attributes = self._mapping(state) if type(state) is dict else self._sequence([state])
        return made + attributes + self._sequence([items and list(items), pairs and list(pairs), *setter])


def _whole(value: Any) -> bytes | None:
    """The form of a value without parts that is neither a number nor a text."""
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, FunctionType):
        return _named(value)
    if "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor):
        return _tensor(value)
    if _is_array(value) and getattr(value.dtype, "hasobject", False) is not True:
        return _shape(value.dtype, getattr(value, "shape", ())) + b"".join(_contents(value))
    return None


def _named(value: Any) -> bytes:
    """The form of a function or another object that has only a name. Raises where no module has that."""
    import pickle

    return pickle.dumps(value, 5)


def _is_array(value: Any) -> bool:
    return hasattr(value, "tobytes") and hasattr(value, "dtype") and not isinstance(value, type)


def _contents(array: Any) -> Iterator[bytes]:
    """The bytes of an array without those between fields and numbers, which nobody has written."""
    dtype = array.dtype
    if dtype.names is not None:
        for name in dtype.names:
            yield from _contents(array[name])
    elif dtype.char in "gG":  # of 16 bytes some machines use 10
        yield ",".join(map(str, array.ravel())).encode()
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
    plain = plain.cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    dtype = str(plain.dtype).removeprefix("torch.")  # as NumPy names it
    return _shape(dtype, tuple(plain.shape)) + bytes(plain.reshape(-1).view(torch.uint8).numpy().tobytes())

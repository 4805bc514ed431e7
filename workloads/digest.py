"""A digest of a run's results, equal on every backend that computed the same values.

One hash per stream (an environment, an agent), combined in the order of the stream numbers. Values of different
streams may arrive interleaved in any way. The encoding is canonical and prefix-free: type, size, content.
"""

import hashlib
import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

_SIZE_BYTES = 16


class Digest:
    """Hashes streams of values.

    Takes None, bool, int, float, str, bytes, NumPy scalars and arrays, and torch tensors (as arrays). Also takes
    tuples, lists and dicts of those (dicts by sorted key). A NumPy scalar counts as the Python number of its value;
    floats and arrays count by their bits, so that 0.0 and -0.0 differ. Where one `add` ends does not count.
    """

    def __init__(self) -> None:
        self._streams: dict[int, Any] = {}

    def add(self, stream: int, *values: object) -> None:
        """Append values to a stream; raises TypeError for a value that has no canonical form."""
        hasher = self._streams.get(stream)
        if hasher is None:
            hasher = self._streams[stream] = hashlib.blake2b(digest_size=_SIZE_BYTES)
        for value in values:
            for piece in _encode(value):
                hasher.update(piece)

    def hexdigest(self) -> str:
        """32 hexadecimal digits for everything added so far; may be asked for repeatedly."""
        combined = hashlib.blake2b(digest_size=_SIZE_BYTES)
        for stream in sorted(self._streams):
            combined.update(b"".join(_encode(stream)))
            combined.update(self._streams[stream].digest())
        return combined.hexdigest()


class NoDigest:
    """Stands where a `Digest` would, and does nothing: what a timed run carries."""

    def add(self, stream: int, *values: object) -> None:
        """Ignore the values."""

    def hexdigest(self) -> str:
        """The empty string."""
        return ""


def _encode(value: Any) -> Iterator[bytes | memoryview]:
    if value is None:
        yield b"N"
    elif isinstance(value, bool | np.bool_):
        yield b"T" if value else b"F"
    elif isinstance(value, int | np.integer):
        yield _sized(b"i", str(int(value)).encode())
    elif isinstance(value, float | np.floating):
        yield b"f" + struct.pack("<d", float(value))
    elif isinstance(value, str):
        yield _sized(b"s", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes | bytearray | memoryview):
        yield _sized(b"b", bytes(value))
    elif isinstance(value, np.ndarray):
        yield from _encode_array(value)
    elif isinstance(value, tuple | list):
        yield _sized(b"t" if isinstance(value, tuple) else b"l", b"", len(value))
        for item in value:
            yield from _encode(item)
    elif isinstance(value, dict):
        yield _sized(b"d", b"", len(value))
        for key, item in sorted((b"".join(_encode(key)), item) for key, item in value.items()):
            yield key
            yield from _encode(item)
    else:
        yield from _encode_tensor(value)


def _encode_array(array: np.ndarray[Any, Any]) -> Iterator[bytes | memoryview]:
    if array.dtype.hasobject:
        raise TypeError(f"cannot digest an array of {array.dtype}: expected an array of numbers")
    ordered = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    layout = f"{np.lib.format.dtype_to_descr(ordered.dtype)}{array.shape}"
    yield _sized(b"a", layout.encode())
    yield ordered.reshape(-1).view(np.uint8).data if ordered.size else b""


def _encode_tensor(value: Any) -> Iterator[bytes | memoryview]:
    # A tensor can only exist where torch is loaded already, so it is never imported for the question.
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        kind = type(value).__qualname__
        raise TypeError(f"cannot digest {kind}: expected numbers, text, arrays or containers of them")
    yield from _encode_array(value.detach().cpu().numpy())


def _sized(kind: bytes, content: bytes, size: int | None = None) -> bytes:
    return kind + struct.pack("<Q", len(content) if size is None else size) + content

"""Values for the tests of the codec, and what it means that two are the same in type and content, all the way down."""

import math
import struct
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from hypothesis.strategies import SearchStrategy


class Point(NamedTuple):
    """A NamedTuple that can be named."""

    x: Any
    y: Any


class Celsius(float):
    """A subclass of a plain type."""


class Box:
    """An object with attributes."""

    def __init__(self, content: Any) -> None:
        self.content = content


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in type and content; NaNs by their bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype.hasobject:
            return same(one.tolist(), other.tolist())
        return bool(one.tobytes() == other.tobytes())
    if isinstance(one, torch.Tensor):
        return bool(
            one.dtype == other.dtype
            and one.shape == other.shape
            and one.requires_grad == other.requires_grad
            and torch.equal(one, other)
        )
    if isinstance(one, float):
        return bool(struct.pack("d", one) == struct.pack("d", other))
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, np.generic):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    if isinstance(one, Box):
        return same(one.content, other.content)
    if isinstance(one, tuple | list | deque):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    return bool(one == other)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**63) - 2, 2**63 + 2),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs"]), max_size=3),
    st.binary(max_size=100),
    st.binary(min_size=4000, max_size=4200),
    st.floats().map(Celsius),
)
# In native order: NumPy's own pickle turns a strided array of the other order into a native one.
DTYPES: SearchStrategy[np.dtype[Any]] = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="="),
    arrays.unsigned_integer_dtypes(endianness="="),
    arrays.floating_dtypes(endianness="="),
    arrays.complex_number_dtypes(endianness="="),
    arrays.datetime64_dtypes(endianness="="),
    arrays.timedelta64_dtypes(endianness="="),
    arrays.unicode_string_dtypes(endianness="=", max_len=3),
    arrays.byte_string_dtypes(max_len=3),
    arrays.array_dtypes(max_size=3),
)
NUMPY_SCALARS = st.one_of(arrays.boolean_dtypes(), arrays.integer_dtypes(), arrays.floating_dtypes()).flatmap(
    arrays.from_dtype
)


def _arranged(array: Any) -> SearchStrategy[Any]:
    return st.sampled_from([array, array.T, array[::2], np.asfortranarray(array)]) if array.ndim else st.just(array)


SMALL_ARRAYS = arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)).flatmap(
    _arranged
)


@st.composite
def large_arrays(draw: st.DrawFn) -> Any:
    """Arrays that travel through the arena: noise, C- or Fortran-contiguous or strided."""
    shape = draw(st.sampled_from([(4096,), (4097,), (50, 100), (3, 40, 50), (100_000,)]))
    dtype = np.dtype(draw(st.sampled_from(["u1", "f4", "f8", "i8", "M8[s]", "f4, u1"])))
    noise = np.random.default_rng(draw(st.integers(0, 9))).bytes(math.prod(shape) * dtype.itemsize)
    return draw(_arranged(np.frombuffer(noise, dtype).reshape(shape)))


TENSOR_DTYPES = [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.bfloat16, torch.complex64]


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """CPU tensors of many kinds, with and without a gradient, whole and views."""
    dtype = draw(st.sampled_from(TENSOR_DTYPES))
    shape: tuple[int, ...] = draw(st.sampled_from([(), (0,), (3,), (2, 3), (5000,), (40, 50)]))
    tensor = torch.arange(math.prod(shape)).reshape(shape).to(dtype)
    if draw(st.booleans()) and shape:
        tensor = tensor[::2]
    elif draw(st.booleans()) and len(shape) == 2:
        tensor = tensor.T
    if dtype.is_floating_point and draw(st.booleans()):
        tensor.requires_grad_()
    return tensor


LEAVES = st.one_of(
    SCALARS,
    NUMPY_SCALARS,
    SMALL_ARRAYS,
    large_arrays(),
    tensors(),
    st.frozensets(st.integers(), max_size=3),
    SMALL_ARRAYS.map(Box),
)
KEYS = st.one_of(st.text(max_size=3), st.integers(), st.booleans(), st.floats(allow_nan=False), st.none())


def _containers(parts: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(
        st.lists(parts, max_size=4),
        st.lists(parts, max_size=4).map(tuple),
        st.dictionaries(KEYS, parts, max_size=4),
        st.builds(Point, parts, parts),
    )


VALUES = st.recursive(LEAVES, _containers, max_leaves=12)

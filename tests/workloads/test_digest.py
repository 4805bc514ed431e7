"""The digest: equal for equal streams however they interleave, different for whatever differs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workloads.digest import Digest, NoDigest

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.binary(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
events = st.lists(st.tuples(st.integers(-2, 3), values), max_size=12)


def digest_of(*streamed):
    digest = Digest()
    for stream, value in streamed:
        digest.add(stream, value)
    return digest.hexdigest()


def one(value):
    return digest_of((0, value))


def shape(value):
    """The distinctions of the digest: the value with the types that `==` confuses, and the bits of floats."""
    if isinstance(value, dict):
        return ("dict", tuple(sorted((key, shape(item)) for key, item in value.items())))
    if isinstance(value, tuple | list):
        return (type(value).__name__, tuple(shape(item) for item in value))
    return (type(value).__name__, value.hex() if isinstance(value, float) else value)


@settings(deadline=None)
@given(events, st.randoms(use_true_random=False))
def test_interleaving_of_streams_does_not_count(streamed, random):
    queues = {}
    for stream, value in streamed:
        queues.setdefault(stream, []).append((stream, value))
    shuffled = []
    while queues:
        stream = random.choice(sorted(queues))
        shuffled.append(queues[stream].pop(0))
        if not queues[stream]:
            del queues[stream]
    assert digest_of(*shuffled) == digest_of(*streamed)


@settings(deadline=None)
@given(events, events)
def test_digests_are_equal_exactly_when_the_streams_are(left, right):
    def streams(streamed):
        by_stream = {}
        for stream, value in streamed:
            by_stream.setdefault(stream, []).append(shape(value))
        return by_stream

    assert (digest_of(*left) == digest_of(*right)) == (streams(left) == streams(right))


@settings(deadline=None)
@given(st.lists(values, max_size=5))
def test_where_one_add_ends_does_not_count(items):
    together = Digest()
    together.add(1, *items)
    singly = Digest()
    singly.add(1)
    for item in items:
        singly.add(1, item)
    assert together.hexdigest() == singly.hexdigest()


def test_order_within_a_stream_and_the_stream_itself_count():
    assert digest_of((0, 1), (0, 2)) != digest_of((0, 2), (0, 1))
    assert digest_of((0, 1)) != digest_of((1, 1))


def test_values_that_compare_equal_but_are_of_another_kind_differ():
    kinds = [1, 1.0, True, "1", b"1", (1,), [1], np.array(1), np.array([1]), None, {"a": 1}, {"a": 1.0}]
    assert len({one(value) for value in kinds}) == len(kinds)


def test_numpy_scalars_count_as_the_numbers_they_are():
    assert one(np.int64(-7)) == one(np.int8(-7)) == one(-7)
    assert one(np.float64(0.1)) == one(0.1)
    assert one(np.float32(0.5)) == one(0.5)
    assert one(np.bool_(True)) == one(True)


def test_floats_count_by_their_bits():
    assert one(0.0) != one(-0.0)
    assert one(float("nan")) == one(float("nan"))


@settings(deadline=None)
@given(arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, min_side=0)))
def test_arrays_count_by_type_shape_and_content_not_by_layout(array):
    digest = one(array)
    assert one(array.astype(array.dtype.newbyteorder(">"))) == digest
    assert one(array.copy(order="F")) == digest
    frozen = array.copy()
    frozen.flags.writeable = False
    assert one(frozen) == digest
    assert one(array[np.newaxis]) != digest
    if array.size:
        content = bytearray(array.tobytes())
        content[-1] ^= 1
        assert one(np.frombuffer(bytes(content), array.dtype).reshape(array.shape)) != digest


def test_arrays_of_equal_bytes_and_another_type_differ():
    zeros = [np.zeros(2, dtype=kind) for kind in ("<f8", "<i8", "<u8", "<M8[ns]")]
    assert len({one(array) for array in zeros}) == len(zeros)


def test_tensors_count_as_arrays():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = torch.from_numpy(array.copy())
    assert one(tensor) == one(array)
    assert one(tensor.clone().requires_grad_()) == one(array)
    assert one(tensor.T) == one(array.T)


def test_dicts_count_by_sorted_key():
    assert one({"a": 1, "b": 2}) == one({"b": 2, "a": 1})
    assert one({"a": 1, "b": 2}) != one({"a": 2, "b": 1})
    assert one({1: [np.ones(2)], 0: [np.ones(2)]}) == one({0: [np.ones(2)], 1: [np.ones(2)]})


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([None]), 1j], ids=lambda value: type(value).__name__)
def test_values_without_a_canonical_form_are_refused(value):
    with pytest.raises(TypeError, match=r"^cannot digest"):
        Digest().add(0, value)


def test_a_digest_can_go_on_after_it_was_asked_for():
    digest = Digest()
    digest.add(0, 1)
    before = digest.hexdigest()
    assert digest.hexdigest() == before
    digest.add(0, 2)
    assert digest.hexdigest() == digest_of((0, 1), (0, 2)) != before


def test_no_digest_takes_anything_and_says_nothing():
    digest = NoDigest()
    digest.add(0, object())
    assert digest.hexdigest() == ""

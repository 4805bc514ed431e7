"""A message costs the same per row at any number of rows, and what goes by column arrives as it was."""

import gc
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactorlib.transport.arena import Arena
from reactorlib.transport.codec import BY_COLUMN, PICKLED
from reactorlib.transport.codec_compiler import CodecCompiler
from reactorlib.transport.exchange import Exchange
from reactorlib.transport.structure import PARTS, Describer
from tests.reactorlib.transport.peer import endpoint
from tests.reactorlib.transport.test_codec import Ends
from tests.reactorlib.transport.values import VALUES, Box, same

Make = Callable[[int], Any]
ROWS: dict[str, Make] = {
    "a reply": lambda i: (np.full(4, i, "f4"), 1.0, i % 7 == 0, False, {}),
    "a dict observation": lambda i: ({"at": np.full(3, i, "f4"), "n": i}, -0.0, False, {"t": str(i)}),
    "None in some": lambda i: (np.full(4, i), None if i % 3 else 1.5, None if i % 2 else np.ones(2, "i2")),
    "shapes that vary": lambda i: (np.full((i % 5, 2), i), torch.full((1 + i % 3,), i)),
    "lists that vary": lambda i: (np.ones(2), [float(i)] * (i % 4), [[i], ["a"] * (i % 2)]),
    "dicts that vary": lambda i: (np.ones(2), {"a": i, "b": 1} if i % 3 else {"b": i}),
    "scalars of NumPy": lambda i: (np.full(4, i), np.float32(i), np.bool_(i % 2)),
    "numbers of many kinds": lambda i: (np.ones(1), 2**i if i < 99 else i, float("nan"), True if i % 2 else 1, 1j),
    "strings": lambda i: (np.ones(1), "\ud800é" * (i % 3), b"\0" * (i % 3), ""),
    "tensors": lambda i: (torch.full((3,), 1.0 * i), i % 4, torch.full((3,), 1.0 * i + 1), True),
    "arrays of several dtypes": lambda i: (np.full(2, i, "f4" if i % 2 else ">i8"), np.array(i), np.zeros((0, 2))),
}
SIZES = [(1, 10), (4, 25), (4, 250), (4, 2500), (64, 1), (1024, 1), (1024, 10), (1, 10_000)]  # members and steps


@pytest.fixture(scope="module")
def ends() -> Iterator[Ends]:
    exchange = Exchange(2, capacity=1 << 30)
    yield Ends(endpoint(exchange, 0), endpoint(exchange, 1))
    exchange.close()


def replies(make: Make, members: int, steps: int) -> tuple[Any, ...]:
    """A message: the value of each member, which is a row, or a tuple of rows."""
    rows = [[make(number * steps + step) for step in range(steps)] for number in range(members)]
    return tuple(own[0] if steps == 1 else tuple(own) for own in rows)


def calls(act: Callable[[], Any]) -> tuple[Any, int]:
    """What a function returns, and how many functions written in Python ran meanwhile."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # its callbacks would count
    sys.setprofile(note)
    try:
        found = act()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return found, count


@pytest.mark.parametrize("case", ROWS)
def test_python_is_called_as_often_for_any_number_of_rows(
    ends: Ends, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("take", "_is_free"):  # without the assertions of REACTORLIB_DEBUG, whose calls would count
        monkeypatch.setattr(Arena, name, inspect.unwrap(getattr(Arena, name)))
    codec, counts = ends.one.codec, []
    for members, steps in SIZES:
        value = replies(ROWS[case], members, steps)
        for _ in range(2):
            message, encoding = calls(lambda value=value: codec.whole(value, [1]))
            received, decoding = calls(lambda message=message: ends.other.codec.decode(message))
        assert same(received, value)
        assert message[0] != PICKLED
        assert codec.encoder([1])(value)[0] != PICKLED
        counts.append(encoding + decoding)
    assert max(counts) < 150
    assert max(counts) < 2 * min(counts)


@pytest.mark.parametrize(("members", "steps"), [(4, 2500), (1024, 10), (10_000, 1), (1, 10_000)])
def test_a_description_ends_early(members: int, steps: int) -> None:
    value = replies(ROWS["a reply"], members, steps)
    found, count = calls(lambda: Describer().describe(value))
    assert found == "o"
    assert count < 8 * PARTS


def test_generated_source_does_not_grow_with_the_rows() -> None:
    for members, steps in [(4, 1), (16, 1), (64, 1), (1024, 1), (4, 10), (4, 100), (4, 1000)]:
        structure = Describer().describe(replies(ROWS["a reply"], members, steps))
        if structure != "o":
            assert len("\n".join(CodecCompiler(structure, b"")._encoder_lines())) < 200 * PARTS
        assert (structure == "o") == (members * steps * 6 + members > PARTS)


def test_numbers_of_rows_that_vary_need_no_functions_of_their_own(ends: Ends) -> None:
    encode = ends.one.codec.encoder([1])
    before = sum(known is not None for known in ends.one.codec._encoders.values())
    for number in range(300):
        value = ([(np.full(4, row), 1.0) for row in range(20 + number)],)
        message = encode(value)
        assert same(ends.other.codec.decode(message), value)
    assert message[0] != PICKLED
    assert sum(known is not None for known in ends.one.codec._encoders.values()) < before + 20


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(rows=st.lists(VALUES, min_size=1, max_size=4), times=st.integers(1, 40), as_list=st.booleans())
def test_rows_of_any_values_arrive_as_they_were(ends: Ends, rows: list[Any], times: int, as_list: bool) -> None:
    value = [(row, number) if as_list else [row] for number in range(times) for row in rows]
    assert same(ends.other.codec.decode(ends.one.codec.whole(tuple(value), [1])), tuple(value))


TWINS: dict[str, Callable[[], Any]] = {
    "the next observation is the next row's": lambda: _chained([np.full(3, i) for i in range(50)]),
    "tensors": lambda: _chained([torch.full((3,), i) for i in range(50)]),
    "dicts": lambda: _chained([{"at": np.full(3, i)} for i in range(50)]),
    "lists": lambda: [(one, one, np.ones(1)) for one in ([i] for i in range(50))],
    "an array in a list and beside it": lambda: [(one, [one]) for one in (np.full(3, i) for i in range(50))],
    "an array in an object and beside it": lambda: [(one, Box(one)) for one in (np.full(3, i) for i in range(50))],
    "one row many times": lambda: [(np.ones(3), 1)] * 50,
    "large arrays": lambda: _chained([np.full(2000, i) for i in range(50)]),
}


def _chained(states: list[Any]) -> list[Any]:
    return [(one, 1.0, following) for one, following in pairwise(states)]


def _places(value: Any, found: dict[int, list[Any]], path: tuple[int, ...] = ()) -> list[Any]:
    """The places of each list, dict, array and tensor."""
    if not isinstance(value, tuple | int | float):
        found.setdefault(id(value), []).append(path)
    parts = [value.content] if isinstance(value, Box) else value.values() if isinstance(value, dict) else value
    if isinstance(parts, tuple | list) or isinstance(value, dict):
        for number, part in enumerate(parts):
            _places(part, found, (*path, number))
    return sorted(found.values())


@pytest.mark.parametrize("case", TWINS)
def test_one_object_in_several_rows_stays_one(ends: Ends, case: str) -> None:
    value = TWINS[case]()
    message = ends.one.codec.whole(value, [1])
    received = ends.other.codec.decode(message)
    assert same(received, value)
    assert _places(received, {}) == _places(value, {})


def test_tuples_of_tuples_that_are_shared_do_not_explode(ends: Ends) -> None:
    value: Any = (np.ones(2), 1)
    for _ in range(30):
        value = (value, value)
    received = ends.other.codec.decode(ends.one.codec.whole(value, [1]))
    for _ in range(30):
        received = received[1]
    assert same(received, (np.ones(2), 1))


def test_rows_of_tensors_may_be_changed_one_by_one(ends: Ends) -> None:
    value = tuple((torch.full((3,), float(i)),) for i in range(200))
    received = ends.other.codec.decode(ends.one.codec.whole(value, [1]))
    received[3][0].add_(torch.ones(3, requires_grad=True))
    assert [row[0][0].item() for row in received[:6]] == [0, 1, 2, 4, 4, 5]
    assert received[0][0].untyped_storage().nbytes() == 12


def test_small_arrays_of_rows_are_read_only_and_aligned(ends: Ends) -> None:
    value = tuple((np.full(3, i), np.full(3, i, "u1"), np.full(5, i, "c16")) for i in range(200))
    for row in ends.other.codec.decode(ends.one.codec.whole(value, [1])):
        for part in row:
            assert part.flags.aligned
            assert not part.flags.writeable


R = np.random.default_rng(0).random((31, 43, 3))
VIEWS: dict[str, Callable[[Any], Any]] = {
    "C": lambda a: a, "HWC to CHW": lambda a: a.transpose(2, 0, 1), "axes swapped": lambda a: a.swapaxes(0, 1),
    "transposed": lambda a: a.T, "Fortran": np.asfortranarray, "a plane transposed": lambda a: a[:, :, 0].T,
    "rows flipped": lambda a: a[::-1], "columns flipped": lambda a: a[:, ::-1],
    "all flipped": lambda a: a[::-1, ::-1, ::-1],
    "every other": lambda a: a[::2, ::2], "one channel": lambda a: a[:, :, 1], "a part": lambda a: a[5:20, 10:40],
    "a part transposed": lambda a: a[5:20, 10:40].transpose(2, 1, 0), "one column": lambda a: a.reshape(-1, 31)[:, 3],
    "one axis flipped": lambda a: a.ravel()[::-1], "every third": lambda a: a.ravel()[::3],
    "every third, flipped": lambda a: a.ravel()[::-3], "broadcast": lambda a: np.broadcast_to(a[0], (9, 43, 3)),
    "broadcast within": lambda a: np.broadcast_to(a[:, :1], (31, 20, 3)), "no rows": lambda a: a[:0],
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a.ravel()[:900], 30),
    "one row": lambda a: a[3:4, ::2].T,
}  # fmt: skip


def _sums(array: Any) -> list[bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing, and sums of halves that overflow
        flat = array.ravel()
        sums = [array.sum(), array.mean(), flat @ flat, *(array.sum(axis=axis) for axis in range(array.ndim))]
    return [np.asarray(one).tobytes() for one in sums]


WRAPS: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda a: a, lambda v: v),
    (lambda a: {"image": [a], "n": 1}, lambda v: v["image"][0]),
    (lambda a: {None: a}, lambda v: v[None]),
    (lambda a: [(a[:1], i) for i in range(3)] + [(a, 1)], lambda v: v[3][0]),
]


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "f8", "c8"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_gives_the_same_sums_after_its_way(ends: Ends, view: str, dtype: str) -> None:
    array = VIEWS[view](R.astype(dtype))
    for wrap, unwrap in WRAPS:
        encode = ends.one.codec.encoder([1])
        for _ in range(3):
            received = unwrap(ends.other.codec.decode(encode(wrap(array))))
            assert same(received, array)
            assert _sums(received) == _sums(array)


def test_a_view_of_a_large_table_does_not_take_the_table_along(ends: Ends) -> None:
    message = ends.one.codec.whole({"column": np.zeros((1000, 1000))[:, 3]}, [1])
    assert message[0] == BY_COLUMN
    column = ends.other.codec.decode(message)["column"]
    assert column.base.nbytes <= 16 * 1000

"""Round trips: the same value, of exactly the same types, without a copy where that is promised."""

import gc
import warnings
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reactorlib.errors import WorkerError
from reactorlib.transport.codec import Codec
from reactorlib.transport.codec_compiler import LONGEST_MESSAGE
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.transport.structure import LARGE_BYTES
from tests.reactorlib.scripts import printed
from tests.reactorlib.transport.conftest import MakeExchange
from tests.reactorlib.transport.peer import endpoint
from tests.reactorlib.transport.values import VALUES, Box, Celsius, Point, same

MIB = 1 << 20


class Ends(NamedTuple):
    """Two workers in this process: messages go from one to the other by hand."""

    one: Endpoint
    other: Endpoint

    def carry(self, value: Any, times: int = 4) -> Any:
        """The value that the other end gets the last time, when both know the structure."""
        encode = self.one.codec.encoder([1])
        for _ in range(times):
            received = self.other.codec.decode(encode(value))
        return received


@pytest.fixture
def ends(make_exchange: MakeExchange) -> Ends:
    exchange = make_exchange()
    return Ends(endpoint(exchange, 0), endpoint(exchange, 1))


@pytest.fixture(scope="module")
def shared_ends() -> Iterator[Ends]:
    exchange = Exchange(2, capacity=1024 * MIB)
    yield Ends(endpoint(exchange, 0), endpoint(exchange, 1))
    exchange.close()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(value=VALUES)
def test_any_value_is_the_same_after_its_way(shared_ends: Ends, value: Any) -> None:
    for times in (1, 2, 3):  # pickled, compiled, remembered
        assert same(shared_ends.carry(value, times), value)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(values=st.lists(VALUES, min_size=2, max_size=6), order=st.lists(st.integers(0, 5), min_size=5, max_size=30))
@example(values=[1, True], order=[0, 0, 0, 1, 1, 1, 0, 1])
@example(values=[1.0, np.float64(1), Celsius(1)], order=[0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2])
@example(values=[{1: 0}, {True: 0}, {1.0: 0}, {np.int64(1): 0}], order=[0, 0, 0, 1, 2, 3, 1, 2, 3])
@example(values=[{"a": 0, "b": 1}, {"b": 0, "a": 1}, {np.str_("a"): 0, "b": 0}], order=[0, 0, 0, 1, 2, 1, 2])
@example(values=[(1, 2), [1, 2], Point(1, 2)], order=[0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2])
@example(values=[2**63 - 1, 2**63, -(2**63), -(2**63) - 1], order=[0, 0, 0, 1, 2, 3, 1])
@example(values=[np.zeros(3, "f4"), np.zeros(3, ">f4"), np.zeros(3, "i4")], order=[0, 0, 0, 1, 1, 1, 2, 2, 2, 0])
@example(values=[np.zeros(3, "q"), np.zeros(3, "l")], order=[0, 0, 0, 1, 1, 1, 0])
@example(values=[np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(6)], order=[0, 0, 0, 1, 2, 0, 1, 2])
@example(values=[(np.zeros((2, 3)), np.ones((2, 3))), (np.zeros((3, 2)), np.ones((3, 2)))], order=[0, 0, 0, 1, 0, 1])
@example(values=[np.arange(6.0)[::2], np.arange(3.0), np.array(1.0)], order=[1, 1, 1, 0, 1, 2])
@example(values=[np.zeros(LARGE_BYTES, "u1"), np.zeros(LARGE_BYTES - 1, "u1")], order=[0, 0, 0, 1, 1, 1, 0])
def test_one_place_may_have_values_of_many_structures(shared_ends: Ends, values: list[Any], order: list[int]) -> None:
    encode, decode = shared_ends.one.codec.encoder([1]), shared_ends.other.codec.decode
    for index in order:
        value = values[index % len(values)]
        assert same(decode(encode(value)), value)


def test_varying_shapes_stay_compiled(ends: Ends) -> None:
    encode, decode = ends.one.codec.encoder([1]), ends.other.codec.decode
    for rows in [*range(1, 40), *range(1, 40)]:
        value = (np.full((rows, 2), rows, "f4"), torch.full((rows,), rows), rows)
        message = encode(value)
        assert same(decode(message), value)
    assert message[0] > 1, "pickled after all"


@pytest.mark.parametrize("make", [lambda: [0], lambda: {"a": 1}, lambda: [np.zeros(2)]], ids=["list", "dict", "array"])
def test_one_object_in_two_places_stays_one_after_two_alike_were_sent(ends: Ends, make: Any) -> None:
    encode, decode, one = ends.one.codec.encoder([1]), ends.other.codec.decode, make()
    for _ in range(4):
        decode(encode([make(), make()]))
    received = decode(encode([one, one]))
    assert received[0] is received[1]


def test_a_value_that_never_comes_back_costs_no_structure(ends: Ends) -> None:
    encode = ends.one.codec.encoder([1])
    for number in range(5000):
        value = tuple(range(number % 50)), {str(number): 0}
        assert ends.other.codec.decode(encode(value)) == value
    assert sum(encode is not None for encode in ends.one.codec._encoders.values()) < 50


LARGE_AND_ODD: list[Any] = [
    list(range(100_000)), "x" * 100_000, b"x" * 100_000, bytearray(b"x" * 100_000), range(3), Ellipsis, int, Point,
    [np.full(1000, i, "i2") for i in range(200)], [np.full(5000, i, "i2") for i in range(700)], (), [], {},
    {i: np.full(5000, i, "i2") for i in range(20)}, OrderedDict(a=np.arange(5000)), deque([np.arange(5000)]),
    np.array([{}, None, "a"], dtype=object), [[[[[[[[[[1]]]]]]]]]] * 3, np.float64(1), np.float32(1),
    np.longdouble(1) / 3, np.datetime64("2020-01-01"), np.arange(10, dtype=">i4"), np.arange(10_000, dtype=">f8")[::2],
    np.zeros(3, np.dtype("f4", metadata={"unit": "m"})),
]  # fmt: skip


@pytest.mark.parametrize("value", LARGE_AND_ODD, ids=lambda value: type(value).__name__)
def test_large_and_odd_values(ends: Ends, value: Any) -> None:
    assert same(ends.carry(value), value)


def test_a_cycle_travels_as_a_cycle(ends: Ends) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    received = ends.carry(cycle)
    assert received[0] is received


@pytest.mark.parametrize(
    "wrap", [lambda a: a, lambda a: (a, 1.0), lambda a: Point({"a": [a]}, 0), lambda a: Box([a]), lambda a: {None: a}]
)
def test_large_arrays_are_read_where_they_are_and_read_only(ends: Ends, wrap: Any) -> None:
    sent = np.arange(100_000)
    memory = ends.other.arena.memory
    received = ends.carry(wrap(sent))
    array = _find(received)
    assert memory.address <= array.ctypes.data < memory.address + memory.size
    assert array.ctypes.data % 64 == 0
    assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def _find(value: Any) -> Any:
    if isinstance(value, Box):
        return _find(value.content)
    if isinstance(value, tuple | list):
        return _find(value[0])
    return _find(next(iter(value.values()))) if isinstance(value, dict) else value


def test_small_arrays_are_aligned_and_read_only(ends: Ends) -> None:
    value = (True, np.arange(3, dtype="u1"), np.arange(3.0), "text", np.arange(5, dtype="c16"), np.arange(3.0))
    for part in ends.carry(value):
        if isinstance(part, np.ndarray):
            assert part.flags.aligned
            assert not part.flags.writeable


@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: (t, 1), lambda t: {None: t}, Box])
def test_tensors_lie_in_shared_memory_and_nothing_warns(ends: Ends, wrap: Any) -> None:
    memory = ends.other.arena.memory
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        received = _find(ends.carry(wrap(torch.arange(100_000))))
    assert memory.address <= received.data_ptr() < memory.address + memory.size
    assert torch.equal(received, torch.arange(100_000))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nn.Linear(100, 100).state_dict(),
        lambda: list(torch.nn.Linear(100, 100).parameters()),
        lambda: torch.nn.Parameter(torch.ones(5000), requires_grad=False),
        lambda: torch.ones(5000, dtype=torch.float64)[::2],
        lambda: torch.ones(5000, dtype=torch.bfloat16),
        lambda: torch.ones(100, 100).to_sparse(),
        lambda: torch.view_as_complex(torch.ones(5000, 2)).conj(),
    ],
)
def test_all_kinds_of_tensors_travel(ends: Ends, make: Any) -> None:
    value = make()
    received = ends.carry(value)
    assert type(received) is type(value)
    mine = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else [value]
    yours = [*received.values()] if isinstance(value, dict) else received if isinstance(value, list) else [received]
    for one, other in zip(mine, yours, strict=True):
        assert type(one) is type(other)
        assert one.dtype == other.dtype
        assert one.requires_grad == other.requires_grad
        assert torch.equal(one.to_dense() if one.is_sparse else one, other.to_dense() if other.is_sparse else other)


def test_a_parameter_that_learns_uses_no_pickled_copy(ends: Ends) -> None:
    message = ends.one.codec.encode({1.5: torch.nn.Parameter(torch.ones(100_000))}, [1])
    assert len(message) < 2000
    [received] = ends.other.codec.decode(message).values()
    assert received.requires_grad


@pytest.mark.parametrize(
    "array_over",
    [
        lambda buffer: np.frombuffer(buffer, np.float64).reshape(10, 200),
        lambda buffer: np.ndarray((10, 200), np.float64, buffer),
        lambda buffer: np.asarray(buffer).view(np.float64).reshape(10, 200),
    ],
)
def test_an_array_in_an_allocated_buffer_is_sent_without_a_copy(ends: Ends, array_over: Any) -> None:
    arena = ends.one.arena
    array = array_over(arena.allocate(8 * 2000))
    array[:] = 7
    offset = array.ctypes.data - arena.memory.address
    message = ends.one.codec.encode((array[2:], 1), [1])
    [received, _] = ends.other.codec.decode(message)
    assert received.ctypes.data - ends.other.arena.memory.address == offset + 2 * 1600
    assert (received == 7).all()


def test_what_was_sent_without_a_copy_can_no_longer_be_written(ends: Ends) -> None:
    array = np.frombuffer(ends.one.arena.allocate(8 * 1000), np.float64)
    array[:] = 7
    ends.one.codec.encode(array, [1])
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 8
    assert array[0] == 7


def test_messages_are_short_whatever_the_value(ends: Ends) -> None:
    for value in (
        b"x" * MIB,
        "x" * MIB,
        list(range(MIB)),
        np.zeros(MIB),
        {None: np.zeros(MIB)},
        tuple(np.full(LARGE_BYTES - 1, number, "u1") for number in range(9)),
    ):
        message = ends.one.codec.encode(value, [1])
        assert len(message) <= LONGEST_MESSAGE
        ends.other.codec.decode(message)


class Unpicklable:
    """Refuses with an error of its own."""

    def __reduce__(self) -> str:
        raise ZeroDivisionError("no way")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda: 0, ["of type function", "lambda"]),
        ((np.zeros(MIB), Unpicklable()), ["ZeroDivisionError: no way"]),
        ((1, {"a": [open]}, {"b": [iter([]), (_ for _ in ())]}), ["generator"]),
        ({"env": Box(lambda: 0)}, ["lambda"]),
    ],
)
def test_what_cannot_be_pickled_is_named_with_the_reason(ends: Ends, value: Any, words: list[str]) -> None:
    for _ in range(3):
        with pytest.raises(WorkerError) as caught:
            ends.one.codec.encode(value, [1])
        for word in words:
            assert word in str(caught.value)


class Unbuildable:
    """Can be pickled, not be built."""

    def __reduce__(self) -> Any:
        return divmod, (1, 0)


def test_a_value_that_cannot_be_built_is_an_error_of_the_receiver(ends: Ends) -> None:
    message = ends.one.codec.encode(Unbuildable(), [1])
    with pytest.raises(WorkerError, match="from worker 0 cannot be rebuilt here: ZeroDivisionError"):
        ends.other.codec.decode(message)


def test_a_message_that_failed_or_is_dropped_releases_its_memory(ends: Ends) -> None:
    encode = ends.one.codec.encoder([1])
    for _ in range(20):  # 320 MiB of either would not fit
        for value in ((np.zeros(2 * MIB), Unpicklable()), {None: [np.zeros(2 * MIB), Unpicklable()]}):
            with pytest.raises(WorkerError):
                encode(value)
    for _ in range(100):
        for dropped in (np.zeros(2 * MIB), [b"x" * MIB], {None: np.zeros(MIB)}):
            ends.other.codec.decode(ends.one.codec.encode(dropped, [1]))


def test_decoding_needs_no_order(ends: Ends) -> None:
    encode = ends.one.codec.encoder([1])
    values = [(np.full(3, i), i, "x" * i) for i in range(20)]
    messages = [encode(value) for value in values]
    for message, value in reversed([*zip(messages, values, strict=True)]):
        assert same(ends.other.codec.decode(message), value)


def test_a_message_can_go_to_several_receivers(make_exchange: MakeExchange) -> None:
    exchange = make_exchange(3, capacity=64 * MIB)
    ends = [endpoint(exchange, worker) for worker in range(3)]
    for _ in range(100):  # 800 MB in all
        message = ends[0].codec.encode(np.full(MIB, 3.0), [1, 2])
        for end in ends[1:]:
            assert end.codec.decode(message)[-1] == 3


def test_numpy_is_not_imported_for_values_without_arrays() -> None:
    code = (
        "import sys; from reactorlib.transport.exchange import Endpoint, Exchange\n"
        "x = Exchange(2); a, b = Endpoint(x, 0, bool), Endpoint(x, 1, bool); e = a.codec.encoder([1])\n"
        "for v in [1, 'a', (1, [2.0, None], {'a': b'x'}), {1, 2}, b'x' * 10000] * 4: assert b.codec.decode(e(v)) == v\n"
        "assert not {'numpy', 'torch'} & sys.modules.keys()\n"
    )
    printed("-c", code)


def test_a_codec_holds_on_to_nothing_that_it_carried(ends: Ends) -> None:
    array = np.zeros(MIB)
    received = ends.carry((array, [array[:10]]))
    assert not [r for r in gc.get_referrers(array) if isinstance(r, Codec)]
    view = received[0][5:6]
    del received
    ends.carry((array, [array[:10]]), times=50)
    assert view[0] == 0


class v0(NamedTuple):  # noqa: N801  a name that generated functions use
    placing: Any
    data: Any


def test_names_in_values_meet_none_of_the_functions_that_are_written_for_them(ends: Ends) -> None:
    keys = ["v0", "v1", "t_v0", "PREFIX", "pack", "unpack_from", "placed", "at", "tuple", "type", "K12", "D13"]
    keys += ["'", '"""', "\n", "{}"]
    value = [{key: at for at, key in enumerate(keys)}, v0(np.arange(3), "{}"), v0(1, np.arange(2))]
    for times in (1, 2, 3):
        assert same(ends.carry(value, times), value)

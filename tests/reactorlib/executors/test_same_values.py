"""A reaction computes the same from a value, whichever way the value took to it."""

from __future__ import annotations

import decimal
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reactorlib import Input, WorkerError, run
from reactorlib.worker.canonical_form import canonical
from tests.reactorlib.conformance.reactors import Pair, Sink, Source
from tests.reactorlib.observing import values
from tests.reactorlib.scripts import printed

TICKS = 4  # after the first two a structure has functions of its own
EXECUTORS = ["inline", "threads", "processes"]
RECORD = np.dtype((np.record, [("a", "i4"), ("b", "f8")]))
PLAIN = np.dtype([("a", "i4"), ("b", "f8")])
ALIGNED = np.dtype([("a", "i1"), ("b", "i1")], align=True)
PACKED = np.dtype([("a", "i1"), ("b", "i1")])


class Looker(Sink):
    inp = Input[Any](mutable=True)


def seen(executor: str, make: Callable[[int], Any], look: Callable[[Any], Any]) -> list[Any]:
    """The values that the looker saw, tick by tick."""
    where: dict[str, Any] = {} if executor == "inline" else {"workers": 2, "placement": {"Pair.reader": 1}}
    ends = {"source": lambda: Source(*map(make, range(TICKS))), "reader": lambda: Looker(look)}
    return values(run(Pair, **ends, executor=executor, fast=True, trace=True, **where), "Pair.reader.seen")


def grow(value: list[list[int]]) -> list[list[int]]:
    value[0].append(1)
    return value


class Uncomparable:
    def __eq__(self, other: object) -> bool:
        raise TypeError("no comparison")

    def __hash__(self) -> int:
        return 1


def twins(_n: int) -> list[list[int]]:
    one = [0]
    return [one, one]


def link(one: Box, two: Box) -> list[Box]:
    one.other, two.other = two, one
    return [one, two]


def fill(array: Any) -> float:
    array[:] = 5
    return float(array[0])


NOISE = np.random.default_rng(0).random((20, 20))
IMAGE = np.random.default_rng(1).random((30, 40, 3)).astype("f4")


def sums(array: Any) -> list[float]:
    return [float(array.sum()), float(array.mean()), float(np.linalg.norm(array.ravel())), float((array * 1.1).std())]


CASES: dict[str, tuple[Callable[[int], Any], Callable[[Any], Any]]] = {
    "Fortran's order": (lambda n: np.asfortranarray(NOISE), lambda v: (v.flags.fnc, v.sum(axis=0).tobytes())),
    "C's order": (lambda n: NOISE.copy(), lambda v: (v.flags.c_contiguous, v.sum(axis=0).tobytes())),
    "HWC to CHW": (lambda n: IMAGE.transpose(2, 0, 1), sums),
    "HWC to CHW in a dict": (lambda n: {"image": IMAGE.transpose(2, 0, 1), "n": [n]}, lambda v: sums(v["image"])),
    "HWC to CHW in an object": (lambda n: Box(IMAGE.transpose(2, 0, 1)), lambda v: sums(v.other)),
    "an image flipped and cut": (lambda n: [IMAGE[:, ::-1], IMAGE[5:20, 3:30], n], lambda v: (sums(v[0]), sums(v[1]))),
    "one channel, every other row": (lambda n: (IMAGE[::2, :, 1], n), lambda v: sums(v[0])),
    "rows of small views": (lambda n: [(IMAGE[k, :5].T, k) for k in range(30)], lambda v: [sums(a) for a, _ in v]),
    "one list twice": (twins, grow),
    "one object twice": (lambda n: [u := Box(), u], lambda v: v[0] is v[1]),
    "one array twice": (lambda n: [a := np.zeros(2), a], lambda v: (v[0] is v[1], fill(v[0]), v[1].tolist())),
    "one large array twice": (lambda n: (a := np.zeros(2000), a), lambda v: (fill(v[0]), v[1].sum())),
    "objects that refer to each other": (
        lambda n: link(Box(), Box()),
        lambda v: (v[0].other is v[1], v[1].other is v[0]),
    ),
    "an object that refers to a list": (lambda n: [held := [n], Box(held)], lambda v: v[1].other is v[0]),
    "lists that are equal": (lambda n: [[0], [0]], grow),
    "record and plain dtype": (
        lambda n: (n, np.zeros(3, RECORD if n == 3 else PLAIN)),
        lambda v: (v[0], type(v[1][0]).__name__),
    ),
    "aligned and packed dtype": (
        lambda n: np.zeros(3, ALIGNED if n == 3 else PACKED),
        lambda v: v.dtype.isalignedstruct,
    ),
    "a key that cannot be compared": (lambda n: {"a": 1} if n < 3 else {Uncomparable(): 1}, len),
    "a key beyond 64 bits": (lambda n: {1 << 70: 1}, repr),
    "a key that is an int or a bool": (lambda n: {1: 1} if n < 3 else {True: 1}, repr),
}


class Box:
    def __init__(self, other: Any = None) -> None:
        self.other = other


@pytest.mark.parametrize("executor", EXECUTORS[1:])
@pytest.mark.parametrize("name", CASES)
def test_a_value_is_what_it_is_inline(name: str, executor: str) -> None:
    expected = seen("inline", *CASES[name])
    assert len(expected) == TICKS
    assert seen(executor, *CASES[name]) == expected


@pytest.mark.parametrize("executor", EXECUTORS[1:])
def test_a_tensor_keeps_its_attributes(executor: str) -> None:
    torch = pytest.importorskip("torch")

    def tagged(n: int) -> Any:
        tensor = torch.arange(4.0)
        tensor.tag = n
        return tensor

    assert seen(executor, tagged, lambda v: v.tag) == [*range(TICKS)]


def views() -> dict[str, Any]:
    """Tensors whose elements do not follow one another."""
    torch = pytest.importorskip("torch")
    big = torch.arange(30_000.0).reshape(100, 300)
    return {
        "every other": big[:4, ::2],
        "one column": big[:, 3],
        "two columns, transposed": big[:, 5:7].t(),
        "permuted": torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
        "expanded": torch.arange(3.0).reshape(3, 1).expand(3, 5),
        "one number expanded": torch.tensor(2.0).expand(40, 40),
        "windows": torch.arange(20.0).unfold(0, 5, 1),
        "windows with gaps": big.reshape(-1)[::50].unfold(0, 3, 1),
        "of integers": torch.arange(24, dtype=torch.int16).reshape(4, 6)[:, 1::2],
        "halves": torch.ones(4, 4, dtype=torch.bfloat16)[:, ::2],
        "conjugated": (torch.ones(3, 3) * 1j).conj().t(),
    }


@pytest.mark.parametrize("executor", EXECUTORS[1:])
def test_a_view_of_a_tensor_keeps_its_strides_and_its_digest(executor: str) -> None:
    for make in ((lambda n, view=view: view) for view in views().values()):
        for look in (lambda v: (v.shape, v.stride(), v.dtype, v.tolist(), v.sum(dim=0).tolist()), lambda v: v):
            here, there = (seen(where, make, look) for where in ("inline", executor))
            assert list(map(canonical, there)) == list(map(canonical, here))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_leaf_of_a_graph_of_gradients_crosses_alone(executor: str) -> None:
    torch = pytest.importorskip("torch")

    def leaf(n: int) -> Any:
        return torch.nn.Parameter(torch.ones(2)) if n % 2 else torch.ones(2, requires_grad=True)

    def learnt(v: Any) -> Any:
        (v * v).sum().backward()
        return type(v).__name__, v.requires_grad, v.grad.tolist()

    expected = [(name, True, [2.0, 2.0]) for name in ("Tensor", "Parameter") * (TICKS // 2)]
    assert seen(executor, leaf, learnt) == expected


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: {"loss": [v]}])
def test_what_is_computed_in_a_graph_of_gradients_stays_in_its_process(wrap: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")

    def loss(_n: int) -> Any:
        return wrap((torch.ones(2, requires_grad=True) * 2).sum())

    with pytest.raises(WorkerError, match=r"Pair\.source\.out: .*graph of gradients.*set tensor\.detach\(\)"):
        seen("processes", loss, lambda v: v)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_reactions_run_in_the_context_of_the_caller(executor: str) -> None:
    def divided(_value: int) -> str:
        try:
            np.float64(1) / np.float64(0)
        except FloatingPointError:
            return str(decimal.Decimal(1) / 7)
        return "no error"

    with decimal.localcontext(prec=50), np.errstate(all="raise"):
        assert [len(text) for text in seen(executor, lambda n: n, divided)] == [52] * TICKS


@pytest.mark.parametrize("executor", EXECUTORS)
def test_strict_warnings_find_nothing(executor: str) -> None:
    program = f"""
        import numpy as np
        from tests.reactorlib.executors.test_same_values import seen
        make = lambda n: (np.zeros(3), np.zeros(3, ">f8"), np.zeros(3, "i4,f8"), b"", "")
        assert seen({executor!r}, make, len) == [5] * 4
    """
    strict = ["-bb", "-Xwarn_default_encoding", "-Werror::BytesWarning", "-Werror::EncodingWarning:reactorlib"]
    printed(*strict, "-c", textwrap.dedent(program))

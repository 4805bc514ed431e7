"""A sum over a view of an array or a tensor has the same bits wherever it is computed: its memory order travels."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from tests.reactorlib.conformance.reactors import Pair, Sink, Source
from tests.reactorlib.observing import Execute, values

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

TIMES = 3  # from the second time on, a structure may have functions of its own
BLOCK = np.random.default_rng(0).random((24, 20, 3)).astype("f4")  # height, width, channels


def moved(block: Any, *order: int) -> Any:
    """The same block with its axes in another order."""
    return block.permute(*order) if isinstance(block, torch.Tensor) else block.transpose(*order)


def of_both(block: Any) -> list[Any]:
    """Views that arrays and tensors have."""
    cut = block[3:20, 2:19]
    every = block[::2], block[:, ::3], block[1::4, ::2, ::2], block[:, :, 1], block[:, :, 1].T
    few = block[7], block[7, 3, 1], moved(block[:0], 2, 0, 1), block[:, 4:5]
    return [*(moved(block, *order) for order in permutations(range(3))), cut, moved(cut, 2, 0, 1), *every, *few]


def of_arrays() -> list[Any]:
    """Views that tensors lack, and large ones."""
    windows = np.lib.stride_tricks.sliding_window_view(BLOCK[:, 0, 0], 5)
    large = np.repeat(BLOCK, 8, axis=1)
    repeated = np.broadcast_to(BLOCK[:1], (9, 20, 3))
    return [BLOCK[::-1], BLOCK[:, ::-1, ::-1], windows, repeated, large[:, ::2], moved(large, 2, 0, 1)]


def views() -> list[Any]:
    """Forty of them: all of both, and of arrays."""
    return [*of_both(BLOCK), *of_both(torch.from_numpy(BLOCK.copy())), *of_arrays()]


def bits(view: Any) -> list[bytes]:
    """Sums over a view, whole and by axis. Their bits depend on the order of the terms."""
    by_axis = [view.sum(axis) for axis in range(view.ndim)]
    return [np.asarray(one).tobytes() for one in (view.sum(), (view * 1.1).sum(), *by_axis)]


FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], list[Any]]]] = {
    "alone": (lambda view: view, lambda value: [value]),
    "in a dict in a list": (lambda view: [{"image": view}, 1], lambda value: [value[0]["image"]]),
    "in rows": (lambda view: [(view, row) for row in range(20)], lambda value: [view for view, _ in value]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_sum_over_a_view_has_the_same_bits(execute: Execute, form: str) -> None:
    make, of = FORMS[form]
    sent = [view for view in views() for _ in range(TIMES)]
    assert len(sent) >= 40 * TIMES
    result = execute(
        Pair, source=lambda: Source(*map(make, sent)), reader=lambda: Sink(lambda value: [*map(bits, of(value))])
    )
    found = values(result, "Pair.reader.seen")
    assert found == [[*map(bits, of(make(view)))] for view in sent]

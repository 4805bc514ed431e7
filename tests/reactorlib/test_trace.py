"""The digest of a run: equal values share one, and an error names a value that cannot have one."""

from __future__ import annotations

import functools
import pickle
import threading
import time
import unittest.mock
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import torch

from reactorlib import MSEC, Bank, Output, Reactor, RunError, Tag, reaction, run, startup
from reactorlib.worker.canonical_form import canonical
from reactorlib.worker.recorder import TraceRecord, digest_of
from tests.reactorlib.conformance.reactors import Pair as Connected
from tests.reactorlib.conformance.reactors import Source


@dataclass
class Pair:
    one: Any
    other: Any = None


class Slotted:
    __slots__ = ("__dict__", "one")

    def __init__(self, one: Any) -> None:
        self.one = one


def padded(content: int) -> Any:
    """An array with bytes between its fields that say `content`."""
    made = np.full(64, content, np.uint8).view(np.dtype([("a", "i1"), ("b", "f8")], align=True))
    made["a"], made["b"] = 1, 2.0
    return made


def long(content: int) -> Any:
    made = np.full(4, 0.1, np.longdouble)
    if np.finfo(made.dtype).nmant == 63:
        made.view(np.uint8).reshape(4, -1)[:, 10:] = content
    return made


@pytest.mark.parametrize("make", [padded, long, lambda content: padded(content)[0], lambda content: long(content) * 1j])
def test_bytes_that_nobody_wrote_are_no_part_of_a_value(make: Any) -> None:
    assert canonical(make(0)) == canonical(make(255)) != canonical(np.zeros_like(make(0)))


class Counted:
    """Says itself what its state is: without the number of times that it was asked."""

    def __init__(self, content: Any) -> None:
        self.content, self.asked = content, 0

    def __getstate__(self) -> Any:
        self.asked += 1
        return {"content": self.content}

    def __setstate__(self, state: Any) -> None:
        self.__init__(**state)  # type: ignore[misc]


def digest(value: Any) -> str:
    return digest_of([TraceRecord(Tag(0, 0), "Main.begin", (("Main.out", value),))])


def text(number: int = 7) -> str:
    """A new object each time."""
    return f"text {number}"


def strided(array: Any) -> Any:
    return np.repeat(array, 2)[::2]


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def grown_set(*order: Any) -> set[Any]:
    grown = set(range(0, 4096, 8))
    grown.clear()
    grown.update(order)
    return grown


def vast_sparse() -> torch.Tensor:
    return torch.sparse_coo_tensor([[1], [2]], [1.0], (10**7, 10**7), check_invariants=False)


COLLIDING = (8, 16, 24, 32, 1024, 2048)
EQUAL = {
    "object array": lambda: [np.array([text(), None, (1, text())], object) for _ in range(2)],
    "object array of arrays": lambda: [np.array([text(), np.zeros(2)], object) for _ in range(2)],
    "structure with objects": lambda: [np.array([(1, text())], [("a", "i4"), ("b", "O")]) for _ in range(2)],
    "scalar of objects": lambda: [np.array([(1, text())], [("a", "i4"), ("b", "O")])[0] for _ in range(2)],
    "strings of NumPy": lambda: [np.array(["a", "b" * 50], np.dtypes.StringDType()) for _ in range(2)],
    "tensor in an object": lambda: [Pair(torch.arange(5.0)) for _ in range(2)],
    "tensor in a deque": lambda: [deque([torch.arange(5.0)]) for _ in range(2)],
    "shared text": lambda: [Pair(text(), text()), Pair(*[text()] * 2)],
    "shared tuple": lambda: [Pair((1, text()), (1, text())), Pair(*[(1, text())] * 2)],
    "shared array": lambda: [Pair(np.ones(9), np.ones(9)), Pair(*[np.ones(9)] * 2)],
    "read-only array": lambda: [Pair(np.arange(3)), Pair(read_only(np.arange(3)))],
    "strided array": lambda: [Pair(np.arange(3)), Pair(strided(np.arange(3)))],
    "array in Fortran's order": lambda: [Pair(np.eye(3)[:2]), Pair(np.asfortranarray(np.eye(3)[:2]))],
    "set": lambda: [grown_set(*COLLIDING), grown_set(*reversed(COLLIDING))],
    "set in an object": lambda: [Pair(frozenset(COLLIDING)), Pair(frozenset(grown_set(*reversed(COLLIDING))))],
    "set of sets": lambda: [{frozenset({text(n)}) for n in numbers} for numbers in (range(20), range(19, -1, -1))],
    "slots": lambda: [Slotted([text()] * 2), Slotted([text(), text()])],
    "state of its own": lambda: [Counted([text()] * 2), Counted([text(), text()])],
    "bfloat16": lambda: [torch.ones(3, dtype=torch.bfloat16), torch.ones(6, dtype=torch.bfloat16)[::2]],
    "conjugate": lambda: [torch.tensor([1 + 1j]).conj(), torch.tensor([1 - 1j])],
    "negative": lambda: [torch.tensor([1 + 1j]).conj().imag, torch.tensor([-1.0])],
    "sparse": lambda: [torch.eye(3).to_sparse(), (0.5 * torch.eye(3)).to_sparse() + (0.5 * torch.eye(3)).to_sparse()],
    "vast sparse": lambda: [vast_sparse(), vast_sparse()],
    "gradient": lambda: [torch.ones(3), torch.ones(3, requires_grad=True)],
    "circular text": lambda: [circular(text(), text()), circular(*[text()] * 2)],
    "circular set": lambda: [circular(grown_set(*order), np.ones(2)) for order in (COLLIDING, COLLIDING[::-1])],
    "circular strided array": lambda: [circular(np.arange(3), 0), circular(strided(np.arange(3)), 0)],
}


def circular(one: Any, other: Any) -> Pair:
    pair = Pair([one, other])
    pair.other = pair
    return pair


@pytest.mark.parametrize("make", EQUAL.values(), ids=EQUAL)
def test_equal_values_have_one_digest_whatever_made_them(make: Any) -> None:
    values = make()
    copies = [pickle.loads(pickle.dumps(value)) for value in values]
    assert len({digest(value) for value in values + copies}) == 1


def test_different_values_have_different_digests() -> None:
    circle: list[Any] = []
    circle.append(circle)
    objects = [np.array(part, object) for part in ([1, 2], [[1], [2]], [1, None], ["1", 2])]
    tensors = [torch.ones(3, dtype=torch.bfloat16), torch.ones(3, dtype=torch.float16), torch.eye(3),
               torch.eye(3).to_sparse(), torch.eye(4).to_sparse(), 2 * torch.eye(3).to_sparse()]  # fmt: skip
    values = [Pair(1, 2), Pair(2, 1), Pair(1), Slotted(1), Counted(1), Pair(Pair(1)), Pair([1] * 99), Pair([1] * 98),
              {1, 2}, {1}, set(), frozenset({3}), Decimal(1), Decimal(2), deque([1]), deque([2]), deque([1], 5), 1j, 2j,
              np.arange(3), np.arange(3).astype(">i8"), Pair(np.arange(3)), Pair(np.arange(3).astype(">i8")),
              int, Pair, len, digest, datetime.fromtimestamp(0, UTC), datetime.fromtimestamp(1, UTC),
              [1], (1,), Pair([1]), Pair((1,)), circle, circular(1, 2), circular(2, 1), *objects, *tensors]  # fmt: skip
    assert len({digest(value) for value in values}) == len(values)


def test_every_record_counts_with_its_tag_and_no_value_runs_on_into_what_follows_it() -> None:
    one = [TraceRecord(Tag(0, 0), "m.a", (("m.x", 1),)), TraceRecord(Tag(10, 0), "m.b", ())]
    other = [TraceRecord(Tag(0, 0), "m.a", (("m.x", 11),)), TraceRecord(Tag(0, 0), "m.b", ())]
    later = [one[0], TraceRecord(Tag(10, 1), "m.b", ())]
    assert len({digest_of(records) for records in (one, other, later, one[:1])}) == 4


# Of `plain_values`: recorded, so that a change of the form does not go unnoticed.
RECORDED = [
    "e899d6ed9cfc09006efd08db0dd7e694",
    "4e2213420d0029c79f8349d5e24e92c5",
    "4ed03d8fda92ac9ad91e41a7ad336f69",
    "cd71951730f839da182760ecf96c07cb",
    "a391aa5964512e634f9d4697223724cd",
    "97aca521f3121db33020daad9c2ac4e6",
]


def plain_values() -> list[Any]:
    nested: Any = 1
    for _ in range(200):
        nested = [nested]
    return [
        (1, 2.5, "a'\n\ud800", b"bytes", None, True, -0.0, float("nan"), 10**50),
        [[], (), {}, [1, (2, [3.0])], {"b": [2], "a": {None: ()}, 3: "x", (1, 2): b""}],
        OrderedDict(b=1, a=2),
        [np.arange(6).reshape(2, 3), np.float32(1.5), np.float64(2), np.zeros((), ">f4"), np.array(["a", "bb"])],
        {"tensor": torch.arange(3.0)},
        nested,
    ]


def test_the_form_of_plain_values_is_the_recorded_one() -> None:
    assert [digest(value) for value in plain_values()] == RECORDED


def test_attributes_count_by_name_not_by_order() -> None:
    one, other = Pair(1, 2), Pair(1, 2)
    del other.one
    other.one = 1
    assert digest(one) == digest(other)


def test_values_that_are_circular_or_shared_take_no_time() -> None:
    all_know_all = [Pair(number) for number in range(40)]
    for pair in all_know_all:
        pair.other = all_know_all
    shared = Pair(1)
    for _ in range(60):
        shared = Pair(shared, [shared, (shared,)])
    nested: Any = None
    for _ in range(50):
        nested = [Pair(nested)]
    array = np.array([None], object)
    array[0] = array
    knot: Any = ([Pair(1)], {Pair})
    knot[0].append(knot)
    lists: list[Any] = [[] for _ in range(40)]
    for one in lists:
        one.extend(lists)
    began = time.perf_counter()
    for value in (all_know_all, shared, nested, array, knot, lists, {"self": [array, all_know_all]}):
        assert digest(value) == digest(value)
    assert time.perf_counter() - began < 10


def test_a_class_of_a_function_needs_no_name_in_a_module() -> None:
    class Local:
        def __init__(self) -> None:
            self.content = text()

    assert digest(Local()) == digest(Local()) != digest(Local)


class Endless:
    """Reduces to something new, without end."""

    def __reduce__(self) -> Any:
        return Endless, (Endless(),)


class Mute:
    def __reduce__(self) -> Any:
        raise ZeroDivisionError("two\nlines")


UNFIT = {
    "lambda": (lambda: lambda: 1, "function", r"\w+Error: .*lambda"),
    "lambda in an object": (lambda: Pair([lambda: 1]), "Pair", r"\w+Error: .*lambda"),
    "partial": (lambda: functools.partial(lambda: 1), "functools.partial", r"\w+Error: .*lambda"),
    "lock": (lambda: {"a": threading.Lock()}, "dict", "TypeError: cannot pickle '_thread.lock' object"),
    "circular lock": (lambda: circular(threading.Lock(), 1), "Pair", "TypeError: cannot pickle '_thread.lock' object"),
    "endless": (Endless, "Endless", "RecursionError"),
    "mock": (unittest.mock.Mock, "unittest.mock.Mock", "TypeError"),
    "mute": (Mute, "Mute", "ZeroDivisionError: two lines"),
}


@pytest.mark.parametrize(("make", "kind", "reason"), UNFIT.values(), ids=UNFIT)
def test_a_value_without_a_digest_is_named_by_its_port_in_one_line(make: Any, kind: str, reason: str) -> None:
    with pytest.raises(RunError, match=rf"^Main.out: a value of type (\w+\.)*{kind} has no digest: {reason}") as caught:
        digest(make())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def of_many_kinds(number: int) -> Any:
    swapped = np.arange(6).astype(">i8")[::2]
    tensors = Pair(torch.ones(3), torch.ones(3, dtype=torch.bfloat16)[::2])
    texts = Pair(text(number), text(number))
    return Pair([texts, tensors], (np.array([text(), None], object), {text(n) for n in range(9)}, swapped))


class Sources(Reactor):
    def __init__(self) -> None:
        self.one, self.other = (Source(*map(of_many_kinds, range(4))) for _ in range(2))


def test_repeated_runs_have_one_digest_on_every_executor() -> None:
    options: dict[str, Any] = {"timeout": 3 * MSEC, "fast": True, "trace": True}
    digests = {run(Sources, **options).digest for _ in range(2)}
    for executor in ("threads", "processes"):
        digests.add(run(Sources, executor=executor, workers=2, **options).digest)
    assert len(digests) == 1


class Gradient(Reactor):
    out = Output[Any]()

    @reaction(startup, effects=out)
    def send(self, out: Any) -> None:
        out.set(torch.ones(3, requires_grad=True) * 2)


class Gradients(Reactor):
    def __init__(self) -> None:
        self.parts = Bank(Gradient, 2)


def test_a_tensor_with_a_graph_that_stays_in_its_process_is_traced() -> None:
    digests = [run(Gradients, executor=one, workers=2, trace=True).digest for one in ("inline", "processes")]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_a_run_whose_trace_has_no_digest_names_the_port(executor: str) -> None:
    with pytest.raises(RunError, match=r"^Pair\.source\.out: a value of type list has no digest: .*lambda"):
        run(Connected, source=lambda: Source([lambda: 1]), trace=True, executor=executor)

"""The report on a value that cannot be pickled names the part, briefly and soon, whatever the user's classes do."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib.transport.pickling import MOST_PARTS, UnpicklableError, dumps
from tests.reactorlib.transport.values import Box

MIB = 1 << 20


class Node:
    """Knows its parent, and that knows it."""

    def __init__(self, parent: Node | None = None, **attributes: Any) -> None:
        self.parent = parent
        self.children: list[Node] = []
        if parent is not None:
            parent.children.append(self)
        vars(self).update(attributes)


class Key:
    """Can be pickled, not shown."""

    def __repr__(self) -> str:
        raise ValueError("no words")


class Elusive:
    """Has no attributes that can be looked at, and cannot be pickled."""

    def __getattribute__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


def told(value: Any) -> str:
    with pytest.raises(UnpicklableError) as caught:
        dumps(value, lambda _: False)
    return str(caught.value)


def chain(length: int, make: Callable[[Any], Any], end: Any) -> Any:
    for _ in range(length):
        end = make(end)
    return end


def test_a_parent_that_knows_its_child_does_not_hide_what_is_to_blame() -> None:
    node = Node(Node(Node()), lock=threading.Lock())
    assert told(node).startswith(
        f"a value of type _thread.lock (.lock of a value of type {__name__}.Node) cannot travel"
    )
    root = Node()
    Node(root)
    Node(root, deep={"a": [threading.Lock()]})
    assert "_thread.lock (.children[1].deep['a'][0] of" in told(root)


def test_what_lies_deep_is_named_in_a_few_steps() -> None:
    message = told(chain(90, Box, threading.Lock()))
    assert f"Box ({'.content' * (MOST_PARTS - 1)} of a value of type" in message
    assert len(message) < 400
    assert "_thread.lock (" + "[0]" * 8 in told(chain(8, lambda part: [part], threading.Lock()))


def test_long_keys_and_names_are_cut_short() -> None:
    assert len(told(chain(8, lambda part: {"key" * MIB: part}, threading.Lock()))) < 600
    box = Box(threading.Lock())
    vars(box).clear()
    vars(box)["name" * MIB] = threading.Lock()
    message = told(box)
    assert len(message) < 400
    assert "_thread.lock (.namename" in message


@pytest.mark.parametrize(
    "value",
    [
        chain(90, lambda part: Box((b"x" * MIB, part)), threading.Lock()),
        chain(90, lambda part: Box(("x" * MIB, part)), threading.Lock()),
        [[number, str(number)] for number in range(400_000)] + [threading.Lock()],
    ],
    ids=["bytes", "text", "wide"],
)
def test_the_search_is_short(value: Any) -> None:
    began = time.perf_counter()
    with pytest.raises(TypeError, match="lock"):
        pickle.dumps(value, 5)
    alone = time.perf_counter() - began
    began = time.perf_counter()
    assert "lock" in told(value)
    assert time.perf_counter() - began < 2 * alone + 0.6


def test_a_slow_part_ends_the_search_with_what_was_found() -> None:
    class Slow:
        def __reduce__(self) -> Any:
            time.sleep(0.15)
            return int, ()

    message = told({"a": Box([Slow(), Slow(), Slow(), Slow(), threading.Lock()])})
    assert "_thread.lock" in message
    assert "['a']" in message


@pytest.mark.parametrize("key", [Key(), 10**5000, (Key(), 1)], ids=["own", "int", "tuple"])
def test_a_key_that_cannot_be_shown_is_no_matter(key: Any) -> None:
    assert "lock" in told({key: threading.Lock()})


def test_a_value_that_cannot_be_looked_at_is_no_matter() -> None:
    assert "[1]" in told([1, Elusive()])


def test_a_module_or_function_is_to_blame_itself_not_what_it_holds() -> None:
    def function() -> None: ...

    function.lock = threading.Lock()  # type: ignore[attr-defined]
    assert "type module ([0] of" in told([os])
    assert "type function (.content of" in told(Box(function))

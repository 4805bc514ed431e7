"""Things grouped by a key, in the order in which they come."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Thing = TypeVar("_Thing")
_Key = TypeVar("_Key", bound=Hashable)


def grouped(things: Iterable[_Thing], key: Callable[[_Thing], _Key]) -> dict[_Key, list[_Thing]]:
    """The things that have the same key, by it."""
    found: dict[_Key, list[_Thing]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found

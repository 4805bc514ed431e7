"""The identity of environments: numbers in errors, and the check that no two are the same.

An object that serves as several environments of a vector would have a copy in each process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from secrets import token_hex
from typing import Any

PLACES = "_reactorlib_places"  # an attribute of each environment


class SameEnvironmentError(ValueError):
    """Several functions give one environment object."""

    def __init__(self) -> None:
        super().__init__(
            "several functions of `env_fns` return the same environment object: each call must make a new one, such as "
            '`lambda: gymnasium.make("CartPole-v1")`'
        )

    def __reduce__(self) -> Any:
        return SameEnvironmentError, ()


class VectorPlaces(dict[str, int]):
    """The number of an environment in each vector that has it. Processes that get the environment get this with it."""

    def __deepcopy__(self, memo: Any) -> VectorPlaces:
        return VectorPlaces()  # a copy in the same process is another environment


def distinct(env_fns: Sequence[Callable[[], Any]]) -> list[Callable[[], Any]]:
    """The functions of a vector. If two give one environment, the second raises SameEnvironmentError."""
    vector = token_hex(8)
    return [partial(placed, make, vector, number) for number, make in enumerate(env_fns)]


def placed(make: Callable[[], Any], vector: str, number: int) -> Any:
    """A new environment, which is the one of this number. Raises SameEnvironmentError if it has another one there."""
    env = make()
    places = vars(env.unwrapped).setdefault(PLACES, VectorPlaces())
    if places.setdefault(vector, number) != number:
        raise SameEnvironmentError
    return env


def numbers_of(environments: Sequence[int]) -> str:
    """The numbers of environments, as errors show them."""
    if len(environments) == 1:
        return f"environment {environments[0]}"
    return f"environments {', '.join(map(str, environments))}"

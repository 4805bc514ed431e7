"""The identity of environments: numbers in errors, objects without wrappers, and the check that no two are the same.

An object that serves as several environments of a vector would have a copy in each process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any
from weakref import ref

Known = Callable[[], Any]  # a weak reference to an environment: None once nobody has it


class SameEnvironmentError(ValueError):
    """Several functions give one environment object."""

    def __init__(self) -> None:
        super().__init__(
            "several functions of `env_fns` return the same environment object: each call must make a new one, such as "
            '`lambda: gymnasium.make("CartPole-v1")`'
        )

    def __reduce__(self) -> Any:
        return SameEnvironmentError, ()


@singledispatch
def bare(env: Any) -> Any:
    """The environment without its wrappers."""
    return env.unwrapped


def known(env: Any) -> Known:
    """A weak reference to an environment. A function that returns it again keeps it alive."""
    return ref(bare(env))


def unknown() -> None:
    """The weak reference of a process that does not have the environment."""


def check_distinct(envs: Sequence[Any]) -> None:
    """Raise SameEnvironmentError if two of these bare environments are one object."""
    if len({id(env) for env in envs}) < len(envs):
        raise SameEnvironmentError


def numbers_of(environments: Sequence[int]) -> str:
    """The numbers of environments, as errors show them."""
    if len(environments) == 1:
        return f"environment {environments[0]}"
    return f"environments {', '.join(map(str, environments))}"

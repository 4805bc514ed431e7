"""Environments of a vector are distinct objects. An object that serves as several would have a copy in each process."""

from __future__ import annotations

from collections.abc import Callable
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


class Distinct:
    """Environments, without their wrappers, of which none is the same object as another one."""

    def __init__(self) -> None:
        self._met: dict[int, Any] = {}

    def add(self, env: Any) -> None:
        """Add a bare environment. Raises SameEnvironmentError if it is there already."""
        if id(env) in self._met:
            raise SameEnvironmentError
        self._met[id(env)] = env

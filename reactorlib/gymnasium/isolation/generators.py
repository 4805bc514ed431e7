"""The random number generators that all code of a process shares, and an environment that has its own of them."""

from __future__ import annotations

import random
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any, NamedTuple

import gymnasium
import numpy as np


class Access(NamedTuple):
    """How a global generator is read, set and seeded, and a form of its state that can be compared."""

    get: Callable[[], Any]
    set: Callable[[Any], Any]
    seed: Callable[[int], Any]
    form: Callable[[Any], Any] = lambda state: state


def _torchs() -> Access | None:
    """Torch's generator of the CPU, if the process has loaded torch."""
    module = sys.modules.get("torch")
    generator: Any = getattr(module, "default_generator", None)
    if generator is None:
        return None
    return Access(generator.get_state, generator.set_state, generator.manual_seed, lambda state: bytes(state.numpy()))


_OF_NUMPY = Access(  # its methods as they are now: somebody may replace those of the module
    np.random.get_state,
    np.random.set_state,
    lambda seed: np.random.seed(seed % 2**32),  # noqa: NPY002
    lambda state: (state[1].tobytes(), *state[2:]),
)
_ACCESS: dict[str, Callable[[], Access | None]] = {
    "random": lambda: Access(random.getstate, random.setstate, random.seed),
    "numpy.random": lambda: _OF_NUMPY,
    "torch": _torchs,
}
GENERATORS = tuple(_ACCESS)


def access(names: Sequence[str] = GENERATORS) -> dict[str, Access]:
    """The generators of these names that the process has loaded."""
    found = {name: _ACCESS[name]() for name in names}
    return {name: one for name, one in found.items() if one is not None}


def states(names: Sequence[str] = GENERATORS) -> dict[str, Any]:
    """The states of these generators, by name."""
    return {name: one.get() for name, one in access(names).items()}


def forms(names: Sequence[str] = GENERATORS) -> dict[str, Any]:
    """The states of these generators, as values that can be compared."""
    return {name: one.form(one.get()) for name, one in access(names).items()}


def put(kept: dict[str, Any]) -> None:
    """Give generators states that `states` returned."""
    for name, one in access(tuple(kept)).items():
        one.set(kept[name])


def seed_all(number: int, names: Sequence[str] = GENERATORS) -> None:
    """Seed these generators."""
    for one in access(names).values():
        one.seed(number)


class OwnGenerators(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that draws from generators of its own where it asks for the global ones.

    `names` are its own generators. `reset(seed=s)` seeds them with s, a first reset without a seed with one of the
    system's. The caller's generators are the same after a call as before it. Only one environment of a process may be
    called at a time, so threads cannot share one. In a process of its own, an environment `swaps` nothing: it has the
    generators of the process. Its pickle has their states, and swaps.
    """

    def __init__(self, make: Callable[[], Any], names: Sequence[str] = GENERATORS, swaps: bool = True) -> None:
        self.names, self._own, self._swaps, self._is_seeded = tuple(names), states(names), True, False
        with self._swapped():
            env = make()
        self._swaps = swaps
        super().__init__(env)

    def __getstate__(self) -> dict[str, Any]:
        own = self._own if self._swaps else states(self.names)
        return {**vars(self), "_own": own, "_swaps": True}  # another process may have other code

    @contextmanager
    def _swapped(self) -> Iterator[None]:
        if not self._swaps:
            yield
            return
        others = states(self.names)
        put(self._own)
        try:
            yield
        finally:
            self._own = states(self.names)
            put(others)

    def reset(self, *, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        with self._swapped():
            if seed is not None or not self._is_seeded:
                seed_all(secrets.randbits(32) if seed is None else seed, self.names)
                self._is_seeded = True
            return self.env.reset(seed=seed, **options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        with self._swapped():
            return self.env.step(action)

    def render(self) -> Any:
        with self._swapped():
            return self.env.render()

    def close(self) -> None:
        with self._swapped():
            self.env.close()

    def get_wrapper_attr(self, name: str) -> Any:
        """An attribute of the environment; a method of it also draws from these generators."""
        found = super().get_wrapper_attr(name)
        return self._swapped()(found) if isinstance(found, MethodType) and found.__self__ is not self else found

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        return self.env.set_wrapper_attr(name, value, force=force)

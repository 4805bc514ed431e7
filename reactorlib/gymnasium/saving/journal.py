"""An environment that keeps what it was asked: another one that is asked the same is in the same state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from copy import deepcopy
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

import gymnasium
import numpy as np

from reactorlib.gymnasium.saving.environment_pickle import pickled
from reactorlib.worker.canonical_form import canonical

OWN = ("step", "reset", "set_wrapper_attr")  # methods of a journal itself
IMMUTABLE = (int, float, str, bytes, np.generic, type(None))


class Call(NamedTuple):
    """Anything but a step that an environment was asked."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Raised(NamedTuple):
    """A question to which an environment raised."""

    entry: Any


class Journal(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The environment that `make` makes. `entries` are actions and other calls from the beginning.

    They are None where the environment can be pickled, which it is asked at its first reset.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__(make())
        self.make = make
        self.entries: list[Any] | None = []
        self.is_reset = self.is_seeded = False
        self._sum = 0  # of rewards and ends
        self._observation: Any = None  # the last one

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, *, seed: Any = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self._asked("reset", self.env.reset, seed=seed, **options)
        self._observation = result[0]
        if not self.is_reset:
            self.is_reset, self.is_seeded = True, seed is not None
            if not isinstance(pickled(self.env), str):
                self.entries = None
        return result

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if self.entries is None:
            return self.env.step(action)
        result: tuple[Any, Any, bool, bool, dict[str, Any]] = self._asked("step", self.env.step, action)
        self._observation = result[0]
        self._sum = crc32(repr(result[1:4]).encode(), self._sum)
        return result

    def get_wrapper_attr(self, name: str) -> Any:
        """An attribute of the environment; a method is kept when it is called."""
        found = self.env.get_wrapper_attr(name)
        return partial(self._asked, name, found) if callable(found) else found

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        return bool(self._asked("set_wrapper_attr", self.env.set_wrapper_attr, name, value, force=force))

    def _asked(self, what: str, ask: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """The answer to a question that is kept, and whether the environment raised."""
        if self.entries is None:
            return ask(*args, **kwargs)
        entry = args[0] if what == "step" else Call(what, args, kwargs)
        self.entries.append(entry if isinstance(entry, IMMUTABLE) else deepcopy(entry))
        try:
            return ask(*args, **kwargs)
        except Exception:
            self.entries[-1] = Raised(self.entries[-1])
            raise

    def digest(self) -> str:
        """A digest of all rewards and ends, of the last observation, and of the random number generator."""
        generator = vars(self.env.unwrapped).get("_np_random")
        state = None if generator is None else generator.bit_generator.state
        return blake2b(canonical((self._sum, self._observation, state)), digest_size=16).hexdigest()

    def replay(self, entries: list[Any]) -> None:
        """Begin anew, with a new environment, and ask it all this."""
        self.env.close()
        self.env = self.make()
        self.entries, self.is_reset, self.is_seeded, self._sum = [], True, True, 0
        for entry in entries:
            raised = isinstance(entry, Raised)
            with suppress(Exception) if raised else nullcontext():
                self._ask_again(deepcopy(entry.entry if raised else entry))

    def _ask_again(self, entry: Any) -> None:
        name, args, kwargs = entry if isinstance(entry, Call) else Call("step", (entry,), {})
        ask = getattr(self, name) if name in OWN else self.get_wrapper_attr(name)
        ask(*args, **kwargs)

"""The shared part of vector environments and pools: attributes of their environments, and checks of arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gymnasium.vector import VectorEnv


class CalledVectorEnv(VectorEnv[Any, Any, Any]):
    """A vector environment that answers by calling its environments."""

    call: Callable[..., tuple[Any, ...]]

    @property
    def np_random_seed(self) -> Any:
        """The seed of each environment."""
        return self.get_attr("np_random_seed")

    @property  # type: ignore[misc]
    def np_random(self) -> Any:
        """The random number generator of each environment."""
        return self.get_attr("np_random")

    def render(self) -> tuple[Any, ...]:
        """The picture of each environment."""
        return self.call("render")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each environment."""
        return self.call(name)

    def _one_each(self, values: Any) -> Sequence[Any]:
        """A value for each environment: those of a list or tuple, else the same for all. Raises ValueError."""
        each = values if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise ValueError(f"got `{len(each)}` values for {self.num_envs} environments")
        return each


def check_counts(env_fns: Sequence[Any], **counts: Any) -> None:
    """Raise ValueError where there are no functions, or where a count is neither None nor positive."""
    if not env_fns:
        raise ValueError("env_fns is empty: give a function for each environment")
    for name, count in counts.items():
        if count is not None and (count != int(count) or count < 1):
            raise ValueError(f"`{name}` must be a positive integer or None, got {count!r}")


def start_method_of(start_method: str | None, context: str | None) -> str | None:
    """The start method, which `context` named in version 1.0."""
    if context is None:
        return start_method
    if start_method is not None:
        raise ValueError("`context` is the old name of `start_method`: give only `start_method`")
    warnings.warn("`context` is now called `start_method`, as in `reactorlib.run`", DeprecationWarning, stacklevel=3)
    return context

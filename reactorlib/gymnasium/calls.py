"""The part of a vector environment that pools share: attributes of its environments, and checks of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv


class Calls(VectorEnv[Any, Any, Any]):
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


def check_counts(env_fns: Sequence[Any], **counts: Any) -> None:
    """Raise ValueError where there are no functions, or where a count is neither None nor positive."""
    if not env_fns:
        raise ValueError("env_fns is empty: give a function for each environment")
    for name, count in counts.items():
        if count is not None and (count != int(count) or count < 1):
            raise ValueError(f"`{name}` must be a positive integer or None, got {count!r}")


def checked_mask(mask: Any, n: int, all_were_reset: bool) -> Any:
    """The reset mask of `n` environments, if it is one. It may leave out some only if `all_were_reset` before."""
    if not isinstance(mask, np.ndarray):
        raise TypeError(f"`options['reset_mask']` must be a numpy array, got {type(mask)}")
    if mask.shape != (n,):
        raise ValueError(f"`options['reset_mask']` must have shape `({n},)`, got {mask.shape}")
    if mask.dtype != np.bool_:
        raise TypeError(f"`options['reset_mask']` must have `dtype=np.bool_`, got {mask.dtype}")
    if not np.any(mask):
        raise ValueError(
            f"`options['reset_mask']` must contain a boolean array with at least one True value, got reset_mask={mask}"
        )
    if not (all_were_reset or np.all(mask)):
        raise ValueError("reset all environments first: some that `reset_mask` leaves out have no observation yet")
    return mask

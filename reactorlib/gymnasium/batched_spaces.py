"""The observation spaces of a vector environment, by the mode that the caller asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from gymnasium import spaces
from gymnasium.vector.utils import batch_differing_spaces, batch_space


def batched_spaces(mode: Any, first: Any, env_fns: Sequence[Callable[[], Any]]) -> tuple[Any, Any]:
    """The space of one observation and of a batch. `first` is the space of the first environment.

    Raises ValueError or TypeError for a mode that does not exist.
    """
    if isinstance(mode, tuple) and len(mode) == 2:
        if not all(isinstance(space, spaces.Space) for space in mode):
            raise TypeError(
                f"Expected both elements of observation_mode to be Spaces, got {type(mode[0])} and {type(mode[1])}"
            )
        return mode[1], mode[0]
    if mode == "same":
        return first, batch_space(first, len(env_fns))
    if mode == "different":
        others = []
        for make in env_fns[1:]:
            with closing(make()) as other:
                others.append(other.observation_space)
        return first, batch_differing_spaces([first, *others])
    raise ValueError(
        "Invalid `observation_mode`, expected: 'same' or 'different' or tuple of single and batch observation "
        f"space, actual got {mode}"
    )

"""The record of one environment step that rollout workers produce and the learner learns from."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FEATURES = 3  # Blackjack: the player's sum, the dealer's card, whether an ace counts as eleven
ACTIONS = 2  # stick, hit

Observation: TypeAlias = tuple[int, ...]
# observation, action, reward, next observation, whether the episode ended there
Transition: TypeAlias = tuple[Observation, int, float, Observation, bool]

TRANSITION = np.dtype(
    [
        ("observation", np.float32, (FEATURES,)),
        ("action", np.int64),
        ("reward", np.float32),
        ("next_observation", np.float32, (FEATURES,)),
        ("done", np.bool_),
    ],
    align=True,
)
# Transitions in one contiguous buffer: an array (n,) of dtype TRANSITION.
Transitions: TypeAlias = npt.NDArray[Any]
# The messages of a round, in arrays as above or as `tensors` has them.
Parameters: TypeAlias = Any
Trajectory: TypeAlias = Any
Drawn: TypeAlias = tuple[Any, npt.NDArray[np.float32]]  # a minibatch, and the rewards (actors, steps)


def pack(transitions: Sequence[Transition]) -> Transitions:
    """The transitions as one array (n,) of dtype TRANSITION."""
    return np.array(transitions, dtype=TRANSITION)

"""The seed that each environment of a vector gets."""

from __future__ import annotations

from typing import Any

import numpy as np

RULES = ("consecutive", "spawn")
_WORDS = 8  # of each child, to choose from: two children that share one must not share a seed


def seeds_of(seed: Any, n: int, rule: str = "consecutive") -> list[Any]:
    """The seeds of `n` environments, by what a user gives for all: None, a number, or one for each.

    For a number, "consecutive" is Gymnasium's rule: environment i gets seed + i, so that neighbouring seeds share all
    streams but one. "spawn" draws 32-bit seeds from NumPy's SeedSequence. Environment i has the same for every `n`.

    >>> seeds_of(7, 3), seeds_of(7, 3, "spawn")
    ([7, 8, 9], [1201125462, 3618983171, 3831650445])
    """
    if seed is None:
        return [None] * n
    if isinstance(seed, int | np.integer):
        return _spawned(int(seed), n) if rule == "spawn" else [int(seed) + position for position in range(n)]
    if len(seed) != n:
        raise ValueError(
            f"If seeds are passed as a list the length must match num_envs={n} but got length={len(seed)}."
        )
    return list(seed)


def checked_rule(rule: str) -> str:
    """The rule, if it is one."""
    if rule not in RULES:
        raise ValueError(f"`seeds` must be {' or '.join(map(repr, RULES))}, got {rule!r}")
    return rule


def _spawned(seed: int, n: int) -> list[int]:
    found: dict[int, None] = {}
    for child in np.random.SeedSequence(seed).spawn(n):
        found[next(word for word in child.generate_state(_WORDS).tolist() if word not in found)] = None
    return [*found]

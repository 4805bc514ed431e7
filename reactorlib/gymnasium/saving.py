"""Saved states of vector environments and pools: what the caller does, see `saved_environment.py` for the workers."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

from reactorlib.gymnasium.groups import Groups, numbers_of
from reactorlib.gymnasium.saved_environment import Refused, SavedEnvironment

MAGIC = b"reactorlib state 1\n"
DIGEST_BYTES = 32


class ResumeError(RuntimeError):
    """Environments cannot be saved, or do not come to their saved state: `environments` has their numbers."""

    def __init__(self, text: str, environments: Sequence[int]) -> None:
        super().__init__(text, environments)
        self.environments = list(environments)

    def __str__(self) -> str:
        return str(self.args[0])


class Saved(NamedTuple):
    """The state of a vector environment; `pool` is what only a pool has."""

    autoreset_mode: str
    environments: list[SavedEnvironment]
    spaces: tuple[Any, Any]  # of actions, which have generators: of all, of one
    pool: Any


def refuse(found: Sequence[Any], what: str) -> None:
    """Raise ResumeError if any of these is refused."""
    alike: dict[Refused, list[int]] = {}
    for number, one in enumerate(found):
        if isinstance(one, Refused):
            alike.setdefault(one, []).append(number)
    if alike:
        rows = [f"{numbers_of(numbers)}, {one.name}: {one.reason}" for one, numbers in alike.items()]
        raise ResumeError("\n  ".join([f"cannot be {what}:", *rows]), sorted(chain(*alike.values())))


def save(envs: Any, groups: Sequence[Groups], pool: Any = None) -> bytes:
    """The state of all environments of these groups, as the user keeps it. Raises ResumeError."""
    found = [one for group in groups for part in group.ask("save", [()] * len(group.remote)) for one in part]
    refuse(found, "saved")
    saved = Saved(envs.metadata["autoreset_mode"].value, found, (envs.action_space, envs.single_action_space), pool)
    data = pickle.dumps(saved, protocol=5)
    return MAGIC + sha256(data).digest() + data


def opened(state: bytes) -> Saved:
    """A state that `save` has returned. Raises ValueError for other bytes. It is a pickle, of someone you trust."""
    data = state[len(MAGIC) + DIGEST_BYTES :]
    if state[: len(MAGIC) + DIGEST_BYTES] != MAGIC + sha256(data).digest():
        raise ValueError("these bytes are no state of this version of reactorlib, or not all of it")
    saved: Saved = pickle.loads(data)
    return saved


def opened_for(envs: Any, state: bytes) -> Saved:
    """The same for these environments. Raises ValueError for a state of others."""
    saved = opened(state)
    if (len(saved.environments), saved.autoreset_mode) != (envs.num_envs, envs.metadata["autoreset_mode"].value):
        was = f"{len(saved.environments)} environments, autoreset_mode={saved.autoreset_mode!r}"
        raise ValueError(f"the state is of {was}")
    return saved


def restore(envs: Any, groups: Sequence[Groups], saved: Saved) -> None:
    """Bring all environments to this state. Raises ResumeError."""
    found: list[Refused | None] = []
    for group in groups:
        group.begin("restore", [(part,) for part in group.shared_out(saved.environments[group.first :])])
    with ExitStack() as stack:  # all, also where one of them raises
        for group in reversed(groups):
            stack.callback(lambda one: found.extend(result for part in one.finish() for result in part), group)
    refuse(found, "restored")
    for group in groups:  # the check before a step reads these flags, and ranks share no memory
        own = saved.environments[group.first :][: len(group.arrays.terminations)]
        group.arrays.terminations[:] = [one.ended for one in own]
        group.arrays.truncations[:] = False
    for space, other in zip((envs.action_space, envs.single_action_space), saved.spaces, strict=True):
        vars(space).update(vars(other))

"""Saved states: of one environment, its pickle or all that it was asked, and of a whole vector environment or pool.

A worker saves and restores its environments, and the caller asks the workers.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

from reactorlib.gymnasium.identity import numbers_of
from reactorlib.gymnasium.isolation import OwnGenerators
from reactorlib.gymnasium.saving.environment_pickle import pickled
from reactorlib.gymnasium.saving.journal import Journal

MAGIC = b"reactorlib state 3\n"
DIGEST_BYTES = 32


class Refused(NamedTuple):
    """An environment that is not saved or restored."""

    name: str
    reason: str


class SavedEnvironment(NamedTuple):
    """An environment, with what its vector keeps of it."""

    content: bytes  # its pickle, or all that it was asked
    digest: str | None  # of its state, where `content` is what it was asked
    ended: bool  # the next step resets it
    observation: Any  # the last one


def save_one(env: Any, ended: bool, observation: Any, drawn: Sequence[str]) -> SavedEnvironment | Refused:
    """The state of an environment. `drawn` are global generators that environments of its process have drawn from."""
    inner = env.env if isinstance(env, Journal) else env
    by_journal = isinstance(env, Journal) and env.entries is not None and env.is_reset
    if by_journal and not env.is_seeded:
        return refused(env, "it cannot be pickled, and its first reset had no seed")
    content = pickled(env.entries if by_journal else inner)
    own = inner.names if isinstance(inner, OwnGenerators) else ()  # which its pickle holds
    lost = [name for name in drawn if name not in own]
    if isinstance(content, str):
        hint = "" if isinstance(env, Journal) else ". `resumable=True` saves it by its seed and actions"
        return refused(env, content + hint)
    if lost and not by_journal:
        reason = f"its process draws from {' and '.join(lost)}, whose state no pickle holds: isolate='generators'"
        return refused(env, reason)
    return SavedEnvironment(content, env.digest() if by_journal else None, ended, observation)


def refused(env: Any, reason: str) -> Refused:
    """An environment with its own name, without the wrappers that are ours."""
    return Refused(str(without_ours(env)), reason)


def without_ours(env: Any) -> Any:
    """An environment as its user made it, without the wrappers that are ours."""
    while isinstance(env, Journal | OwnGenerators):
        env = env.env
    return env


def set_as_user(env: Any, name: str, value: Any) -> None:
    """Set an attribute of an environment as its user made it. A journal keeps that."""
    if isinstance(env, Journal):
        env.set_wrapper_attr(name, value)
    else:
        setattr(without_ours(env), name, value)


def restore_one(env: Any, saved: SavedEnvironment) -> Any:
    """The environment in this state, in the place of `env`; or Refused."""
    if saved.digest is not None and not isinstance(env, Journal):
        return refused(env, "it was saved by its seed and actions: give `resumable=True`")
    try:
        content = pickle.loads(saved.content)
        if saved.digest is None:
            return _replaced(env, content)
        env.replay(content)
        is_there = env.digest() == saved.digest
    except Exception as error:  # noqa: BLE001  # of the environment's parts, also where the saved one raised nothing
        return refused(env, f"{type(error).__name__}: {error}")
    return env if is_there else refused(env, "its seed and actions lead to another state: is it its own?")


def _replaced(env: Any, inner: Any) -> Any:
    """The environment `inner` in the place of `env`, within its journal if it has one."""
    with suppress(Exception):
        env.close()
    if not isinstance(env, Journal):
        return inner
    env.env, env.entries, env.is_reset = inner, None, True  # from now on it is saved by its pickle
    return env


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


def save(envs: Any, groups: Sequence[Any], pool: Any = None) -> bytes:
    """The state of all environments of these groups, as the user keeps it. Raises ResumeError."""
    found = [one for group in groups for part in group.ask("save", [()] * len(group.remote)) for one in part]
    refuse(found, "saved")
    saved = Saved(envs.metadata["autoreset_mode"].value, found, (envs.action_space, envs.single_action_space), pool)
    data = pickle.dumps(saved, protocol=5)
    return MAGIC + sha256(data).digest() + data


def opened(state: bytes, envs: Any) -> Saved:
    """A state that `save` has returned, of environments like `envs`. It is a pickle, of someone you trust.

    Raises ValueError for other bytes, and for a state of other environments.
    """
    data = state[len(MAGIC) + DIGEST_BYTES :]
    if state[: len(MAGIC) + DIGEST_BYTES] != MAGIC + sha256(data).digest():
        raise ValueError("these bytes are no state of this version of reactorlib, or not all of it")
    saved: Saved = pickle.loads(data)
    was = len(saved.environments), saved.autoreset_mode
    if was != (envs.num_envs, envs.metadata["autoreset_mode"].value):
        raise ValueError(f"the state is of {was[0]} environments, autoreset_mode={was[1]!r}")
    return saved


def restore(envs: Any, groups: Sequence[Any], saved: Saved) -> None:
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

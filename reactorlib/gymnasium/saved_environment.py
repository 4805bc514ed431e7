"""The state of one environment: its pickle, or all that it was asked."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reactorlib.gymnasium.environment_pickle import pickled
from reactorlib.gymnasium.generators import OwnGenerators
from reactorlib.gymnasium.journal import Journal


class Refused(NamedTuple):
    """An environment that is not saved or restored."""

    name: str
    reason: str


class ByPickle(NamedTuple):
    """An environment, pickled."""

    data: bytes


class ByJournal(NamedTuple):
    """The questions to an environment since it was made, pickled, and the digest of its state."""

    entries: bytes
    digest: str


class SavedEnvironment(NamedTuple):
    """An environment, with what its vector keeps of it."""

    content: ByPickle | ByJournal
    ended: bool  # the next step resets it
    observation: Any  # the last one


def save_one(env: Any, ended: bool, observation: Any, drawn: Sequence[str]) -> SavedEnvironment | Refused:
    """The state of an environment. `drawn` are global generators that environments of its process have drawn from."""
    content, inner = _content(env), _inner(env)
    own = inner.names if isinstance(inner, OwnGenerators) else ()  # which its pickle holds
    lost = [name for name in drawn if name not in own]
    if lost and isinstance(content, ByPickle):
        content = f"its process draws from {' and '.join(lost)}, whose state no pickle holds: isolate='generators'"
    return refused(env, content) if isinstance(content, str) else SavedEnvironment(content, ended, observation)


def refused(env: Any, reason: str) -> Refused:
    """An environment with its own name, without the wrappers that are ours."""
    return Refused(str(without_ours(env)), reason)


def without_ours(env: Any) -> Any:
    """An environment as its user made it, without the wrappers that are ours."""
    inner = _inner(env)
    return inner.env if isinstance(inner, OwnGenerators) else inner


def set_as_user(env: Any, name: str, value: Any) -> None:
    """Set an attribute of an environment as its user made it. A journal keeps that."""
    if isinstance(env, Journal):
        env.set_wrapper_attr(name, value)
    else:
        setattr(without_ours(env), name, value)


def _inner(env: Any) -> Any:
    return env.env if isinstance(env, Journal) else env


def _content(env: Any) -> ByPickle | ByJournal | str:
    inner = _inner(env)
    if not isinstance(env, Journal) or env.entries is None or not env.is_reset:
        data = pickled(inner)
        hint = "" if isinstance(env, Journal) else ". `resumable=True` saves it by its seed and actions"
        return data + hint if isinstance(data, str) else ByPickle(data)
    if not env.is_seeded:
        return "it cannot be pickled, and its first reset had no seed"
    entries = pickled(env.entries)
    return entries if isinstance(entries, str) else ByJournal(entries, env.digest())


def restore_one(env: Any, content: ByPickle | ByJournal) -> Any:
    """The environment in this state, in the place of `env`; or Refused."""
    if isinstance(content, ByPickle):
        try:
            inner = pickle.loads(content.data)
        except Exception as error:  # noqa: BLE001  # whatever the environment's parts raise
            return refused(env, f"{type(error).__name__}: {error}")
        with suppress(Exception):
            env.close()
        if not isinstance(env, Journal):
            return inner
        env.env, env.entries, env.is_reset = inner, None, True  # from now on it is saved by its pickle
        return env
    if not isinstance(env, Journal):
        return refused(env, "it was saved by its seed and actions: give `resumable=True`")
    try:
        env.replay(pickle.loads(content.entries))
        is_there = env.digest() == content.digest
    except Exception as error:  # noqa: BLE001  # it may raise where the one that was saved did not
        return refused(env, f"{type(error).__name__}: {error}")
    return env if is_there else refused(env, "its seed and actions lead to another state: is it its own?")

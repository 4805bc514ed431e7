"""One line to change: Gymnasium's `make_vec` with our vector environment, by id or by call."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, find_highest_version, get_env_id, parse_env_id

from reactorlib.gymnasium.vector import ReactorVectorEnv

NAMESPACE = "reactor"


def make_vec(
    id: str | EnvSpec,  # noqa: A002  # as Gymnasium's
    num_envs: int = 1,
    *,
    vector_kwargs: dict[str, Any] | None = None,
    wrappers: Sequence[Callable[[Any], Any]] | None = None,
    **kwargs: Any,
) -> ReactorVectorEnv:
    """As `gymnasium.make_vec`: `vector_kwargs` are for ReactorVectorEnv, and `wrappers` go around each environment.

    `vectorization_mode` changes nothing, and all others are for the environments.

    `spec` of the result has all arguments, and makes the same again.

    >>> env = make_vec("CartPole-v1", 2, vector_kwargs={"executor": "inline"})
    >>> env
    ReactorVectorEnv(CartPole-v1, num_envs=2)
    >>> env.close()
    """
    known = deepcopy(_spec_of(id) if isinstance(id, str) else id)  # a process that is spawned may not know the id
    options, known.kwargs = known.kwargs, {}
    count = options.pop("num_envs", num_envs)
    ours = options.pop("vector_kwargs", vector_kwargs) or {}
    several = options.pop("wrappers", wrappers) or ()
    options.update(kwargs)
    options.pop("vectorization_mode", None)

    def make() -> Any:
        env = gymnasium.make(known, **options)
        for wrapper in several:
            env = wrapper(env)
        return env

    env = ReactorVectorEnv([make] * count, **ours)
    vector = {"num_envs": count, "vector_kwargs": ours, "wrappers": several}
    env.spec = deepcopy(known)
    env.spec.kwargs = options | {name: value for name, value in vector.items() if value}
    return env


def _spec_of(id: str) -> EnvSpec:  # noqa: A002
    module, _, known = id.rpartition(":")
    if module:
        importlib.import_module(module)
    namespace, name, version = parse_env_id(known)
    latest = find_highest_version(namespace, name) if version is None else version
    return gymnasium.spec(get_env_id(namespace, name, latest))


def register(id: str) -> str:  # noqa: A002
    """Let `gymnasium.make_vec` make our vector environment by the returned id. The import registers all known ones.

    >>> register("CartPole-v1"), register("ALE/Pong-v5")
    ('reactor/CartPole-v1', 'reactor/ALE.Pong-v5')
    """
    ours = f"{NAMESPACE}/{id.replace('/', '.')}"
    if ours not in gymnasium.registry:
        gymnasium.registry[ours] = EnvSpec(
            id=ours, entry_point=None, vector_entry_point="reactorlib.gymnasium.registration:_made", kwargs={"of": id}
        )
    return ours


def _made(num_envs: int, of: str, **kwargs: Any) -> ReactorVectorEnv:
    return make_vec(of, num_envs, **kwargs)


class NameNotFound(gymnasium.error.NameNotFound):
    """Gymnasium's error, with a hint where the name is one of ours: Gymnasium finds the names of the import only."""

    __module__ = "gymnasium.error"  # the place where it is found from now on, also by pickle

    def __init__(self, text: str = "") -> None:
        hint = " An environment of a later registration is found after reactorlib.gymnasium.register(ID)."
        super().__init__(text + (hint if f"in namespace {NAMESPACE}." in text else ""))


gymnasium.error.NameNotFound = NameNotFound  # type: ignore[misc, assignment]

for _known in list(gymnasium.registry):
    if not _known.startswith(f"{NAMESPACE}/"):
        register(_known)

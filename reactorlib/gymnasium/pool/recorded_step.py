"""One step of one environment again, from the record of a pool."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector.utils import iterate

from reactorlib.gymnasium.contract import difference
from reactorlib.gymnasium.pool.batch_order import Entry
from reactorlib.gymnasium.pool.record import NAMES, StrPath, marks_of, read
from reactorlib.gymnasium.saving import opened, restore
from reactorlib.gymnasium.vector import ListedVectorEnv, merged


class ReplayedStep(NamedTuple):
    """The question to an environment and its answer. `differences` name what the record has otherwise."""

    environment: int
    step: int
    action: Any  # None for a reset
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    infos: dict[str, Any]  # of a vector of one environment
    differences: list[str]


def replayed_step(path: StrPath, environment: int, step: int) -> ReplayedStep:
    """The step of this number of this environment, both counted from 0; step 0 is its first reset.

    Raises ValueError where the record does not have it.
    """
    first, entries = read(path)
    if not 0 <= environment < first.num_envs:
        raise ValueError(f"the record has environments 0 to {first.num_envs - 1}")
    if isinstance(first.make, str):
        raise ValueError(f"the record does not hold the environments, which could not be pickled: {first.make}")
    try:
        make = pickle.loads(first.make)[environment]
        envs = ListedVectorEnv([make], executor="inline", autoreset_mode=first.autoreset_mode, resumable=True)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise ValueError(f"environment {environment} of the record cannot be made here: {text}") from error
    with closing(envs):
        return _found(envs, entries, environment, step)


def _found(envs: ListedVectorEnv, entries: Iterator[Entry], environment: int, step: int) -> ReplayedStep:
    taken, action = 0, None
    result: Any = None
    for entry in entries:
        if entry.call == "restore":
            saved = opened(entry.more)
            own, spaces = [saved.environments[environment]], (envs.action_space, envs.single_action_space)
            restore(envs, [envs.groups], saved._replace(environments=own, spaces=spaces))
        if environment not in entry.ids:
            continue
        values = [column[entry.ids.index(environment)] for column in entry.columns]
        if entry.call == "reset_async":
            observations, infos = envs.reset(seed=values, options=entry.more)
            result = observations, np.zeros(1), *np.zeros((2, 1), np.bool_), infos
        elif entry.call == "send":
            taken, action = taken + 1, values[0]
            result = envs.step_some({0: action})
        elif taken == step and result is not None:
            observations, *ends, infos = result
            got = [*(column.tolist()[0] for column in ends), *marks_of(envs.observation_space, observations, 1)]
            columns = zip(NAMES["recv"], got, values, strict=True)
            differences = [name for name, one, value in columns if difference(one, value, name)]
            observation = next(iterate(envs.observation_space, observations))
            shown = [environment, step, action, observation, *got[:-1], merged(infos, 1)]
            return ReplayedStep._make([*shown, differences])
    raise ValueError(f"the record has {taken} steps of environment {environment}, and no result of step {step}")
